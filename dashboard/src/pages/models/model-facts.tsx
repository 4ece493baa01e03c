/** Facts of a model that the list, its page and the comparison share. */
import type { Catalogue, CatalogueModel, DataPolicy } from '../../api/types.js';
import { Badge } from '../../components/badge.js';
import { isPublished, unknownText } from '../../components/data-policy.js';
import { HoverCard } from '../../components/hover-card.js';
import { carbon, count, unknown } from '../../format/figures.js';
import { modelStateName } from '../../format/model-state.js';
import { usd } from '../../format/money.js';
import { promises } from './filter-models.js';
import { priceRange } from './price-order.js';

const kinds = { chat: 'chat', embedding: 'embeddings', rerank: 'rerank' } as const;

export function KindBadge({ model: { kind } }: { model: CatalogueModel }) {
  return <Badge tone={kind === 'chat' ? 'neutral' : 'accent'}>{kinds[kind]}</Badge>;
}

export function StateBadge({ model: { state, servable } }: { model: Pick<CatalogueModel, 'state' | 'servable'> }) {
  if (state === 'available') return servable ? null : <Badge tone="warn">not set up here</Badge>;
  return <Badge tone="danger">{modelStateName(state)}</Badge>;
}

/** The same everywhere, whatever a thousand is to the provider: every digit. */
export function contextText({ context_window: context }: { context_window: number | null }): string {
  return count(context);
}

/** The lowest price of the model's routes, `from` where they differ; all of them on hover. */
export function PriceText({ model: { routes }, part }: { model: CatalogueModel; part: 'input' | 'output' }) {
  const range = priceRange(routes, part);
  if (!range) return unknown;
  if (Number(range.low) === Number(range.high)) return usd(range.low);
  return (
    <span className="whitespace-nowrap" title={`${usd(range.low)} to ${usd(range.high)}`}>
      <span className="text-ink-3">from </span>
      {usd(range.low)}
    </span>
  );
}

export function lowestCarbon({ routes }: CatalogueModel): string {
  const known = routes.flatMap((route) => (route.carbon === null ? [] : [route.carbon]));
  return known.length === 0 ? unknown : carbon(Math.min(...known));
}

/** How many of the routes have each promise. Sources and dates of all providers are on hover. */
export function PromiseBadges({ model, catalogue }: { model: CatalogueModel; catalogue: Catalogue }) {
  const total = model.routes.length;
  const counts = Object.values(promises).map(({ label, holds }) => ({
    label,
    count: model.routes.filter((route) => holds(route.data_policy)).length,
  }));
  const some = counts.filter(({ count }) => count > 0);
  return (
    <HoverCard content={<Sources catalogue={catalogue} model={model} />} label={`Data policies of ${model.name}`}>
      {some.length === 0 ? (
        <Badge>{lackText(model.routes.map((route) => route.data_policy))}</Badge>
      ) : (
        some.map(({ label, count }) => (
          <Badge key={label} tone={count === total ? 'good' : 'neutral'}>
            {count === total ? label : `${label} ${count}/${total}`}
          </Badge>
        ))
      )}
    </HoverCard>
  );
}

/** Where no promise holds: whether the contrary is published, or nothing. */
function lackText(policies: readonly (DataPolicy | null)[]): string {
  return policies.some(isPublished) ? 'no promise' : unknownText;
}

function Sources({ model, catalogue }: { model: CatalogueModel; catalogue: Catalogue }) {
  const byProvider = new Map(model.routes.map((route) => [route.provider, route.data_policy]));
  return (
    <ul className="flex flex-col gap-2">
      {[...byProvider].map(([id, policy]) => (
        <li key={id}>
          <p className="font-medium">{catalogue.providers.find((one) => one.id === id)?.name ?? id}</p>
          <p className="text-ink-2">
            {Object.values(promises)
              .filter(({ holds }) => holds(policy))
              .map(({ label }) => label)
              .join(', ') || lackText([policy])}
          </p>
          {policy?.source && (
            <p className="text-xs wrap-anywhere text-ink-3">
              {policy.source}
              {policy.as_of && `, as of ${policy.as_of}`}
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}
