/** The routes that the draft leaves of the chosen model. If none is left, it shows why and which changes would help. */
import type { UseQueryResult } from '@tanstack/react-query';
import type { Catalogue, Gate, GateCount, PolicyPreview } from '../../api/types.js';
import { Badge } from '../../components/badge.js';
import { Card } from '../../components/card.js';
import { ModelId } from '../../components/model-id.js';
import { ErrorState, Notice, SkeletonRows } from '../../components/states.js';
import { plural } from '../../format/figures.js';

interface PreviewPanelProps {
  preview: UseQueryResult<PolicyPreview>;
  catalogue: Catalogue;
  gates: readonly Gate[];
}

export function PreviewPanel({ preview, catalogue, gates }: PreviewPanelProps) {
  return (
    <div className="lg:sticky lg:top-8">
      <Card flush title="Routes allowed">
        {preview.data ? (
          <Left catalogue={catalogue} data={preview.data} gates={gates} />
        ) : preview.isError ? (
          <ErrorState error={preview.error} onRetry={() => void preview.refetch()} title="Could not count the routes" />
        ) : (
          <SkeletonRows rows={4} />
        )}
      </Card>
    </div>
  );
}

function Left({ data, catalogue, gates }: { data: PolicyPreview; catalogue: Catalogue; gates: readonly Gate[] }) {
  const titleOf = (name: string) => {
    const own = name.replace(/^project\./, '');
    const title = gates.find((gate) => gate.name === own)?.title.toLowerCase() ?? own;
    return accountGates && own === name ? `account: ${title}` : title;
  };
  const { left, total, available, eligible, removed, error, counterfactuals } = data;
  const { refused_models: refused, account_gates: accountGates } = data;
  const unservable = new Set(
    catalogue.data.flatMap(({ routes }) => routes.filter(({ servable }) => !servable).map(({ id }) => id)),
  );
  return (
    <div className="flex flex-col gap-4 px-5 pb-5">
      <p className="tabular" data-testid="routes-left" role="status">
        <span className={left === 0 ? 'text-2xl font-semibold text-danger' : 'text-2xl font-semibold'}>{left}</span>
        <span className="text-ink-2">{` of ${plural(total, 'route')} allowed, `}</span>
        <span className={available === 0 ? 'font-medium text-danger' : 'text-ink-2'} data-testid="routes-available">
          {available} available now
        </span>
      </p>
      {accountGates && <AccountGates gates={gates} counts={accountGates} />}
      {refused && <RefusedModels ids={refused} models={data.models ?? 0} />}
      {error && (
        <Notice>
          <p className="font-medium">Every auto request for this model would be refused.</p>
          <p className="mt-1">{error.message}</p>
        </Notice>
      )}
      {left === 0 && counterfactuals.length > 0 && (
        <div>
          <h3 className="text-sm font-medium">How to allow routes</h3>
          <ul className="mt-1.5 flex list-disc flex-col gap-1.5 pl-4 text-sm text-ink-2 marker:text-ink-3">
            {counterfactuals.map(({ gate, message }) => (
              <li className="first-letter:uppercase" key={gate}>
                {message}.
              </li>
            ))}
          </ul>
        </div>
      )}
      <ul className="flex flex-col gap-2">
        {eligible.map((id) => (
          <li key={id}>
            <ModelId id={id} /> {unservable.has(id) && <Badge>not available now</Badge>}
          </li>
        ))}
        {removed.map(({ id, gate }) => (
          <li className="text-ink-3" key={id}>
            <s>
              <ModelId id={id} />
            </s>{' '}
            <Badge tone="warn">{titleOf(gate)}</Badge>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Of a project's policy: what the gates of the account have removed before. */
function AccountGates({ counts, gates }: { counts: readonly GateCount[]; gates: readonly Gate[] }) {
  const active = counts.filter((one) => one.active);
  const title = (name: string) => gates.find((gate) => gate.name === name)?.title ?? name;
  if (active.length === 0) return <p className="text-sm text-ink-3">The account has no gate of its own.</p>;
  return (
    <div>
      <h3 className="text-sm font-medium">Gates of the account</h3>
      <ul className="mt-1 flex flex-col gap-0.5 text-sm text-ink-2">
        {active.map(({ gate, removes, leaves }) => (
          <li className="tabular flex justify-between gap-3" key={gate}>
            <span>{title(gate)}</span>
            <span>{`removes ${removes}, leaves ${leaves}`}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Of a preview over all models: those that no auto id could reach. */
function RefusedModels({ ids, models }: { ids: readonly string[]; models: number }) {
  if (ids.length === 0) return <p className="text-ink-2">{`Each of the ${models} models keeps at least one route.`}</p>;
  return (
    <div>
      <h3 className="text-sm font-medium">
        {ids.length === 1 ? '1 model would be refused' : `${ids.length} of ${models} models would be refused`}
      </h3>
      <ul className="mt-1.5 flex max-h-72 flex-col gap-1 overflow-y-auto text-ink-2">
        {ids.map((id) => (
          <li key={id}>
            <ModelId id={id} />
          </li>
        ))}
      </ul>
    </div>
  );
}
