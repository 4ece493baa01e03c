/** The routes that were not tried, in groups by their reason. */
import type { SkippedRoute } from '../../api/usage-types.js';
import { ModelId } from '../model-id.js';

const reasons: Record<string, string> = {
  breaker_open: 'Recent failures paused this route',
  quota_held: 'The daily quota is spent until midnight UTC',
  unconfigured: 'The provider is not set up on this gateway',
  unpriced: 'No price is published',
  cannot_apply: 'The route cannot apply a parameter of the request',
  credential_failing: 'The provider has just refused your own credential',
  credential_held: 'Your own credential has used up its quota for now',
};

function reasonText({ reason, param }: SkippedRoute): string {
  if (reason === 'cannot_apply' && param) return `The route cannot apply ${param}`;
  return reasons[reason] ?? reason.replaceAll('_', ' ');
}

export function SkippedRoutes({ skipped }: { skipped: readonly SkippedRoute[] }) {
  const groups = new Map<string, SkippedRoute[]>();
  for (const each of skipped) groups.set(reasonText(each), [...(groups.get(reasonText(each)) ?? []), each]);
  return (
    <section className="mt-5 border-t border-line pt-4" data-testid="skipped-routes">
      <h3 className="mb-2 text-sm text-ink-3">Not tried</h3>
      <ul className="flex flex-col gap-3">
        {[...groups].map(([reason, routes]) => (
          <li key={reason}>
            <p>
              {reason}
              {routes.length > 1 && <span className="text-ink-3"> · {routes.length} routes</span>}
            </p>
            <ul className="mt-1 flex flex-col gap-0.5 text-sm">
              {routes.map(({ route }) => (
                <li className="min-w-0" key={route}>
                  <ModelId id={route} />
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </section>
  );
}
