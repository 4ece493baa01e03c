/** The attempts of a request in order, each with its outcome and the time to the provider's first byte. */
import type { Attempt, Generation } from '../../api/usage-types.js';
import { milliseconds } from '../../format/figures.js';
import { Badge } from '../badge.js';
import { classNames } from '../class-names.js';

interface AttemptTimelineProps {
  generation: Generation;
  /** The names of the cities by locode. */
  cities: ReadonlyMap<string, string>;
}

export function AttemptTimeline({ generation: { attempts, skipped }, cities }: AttemptTimelineProps) {
  if (attempts.length === 0)
    return (
      <p className="text-ink-2">
        No provider was called{skipped.length > 0 ? ', because no route could be tried.' : '.'}
      </p>
    );
  return (
    <ol className="flex flex-col">
      {attempts.map((attempt, index) => (
        <AttemptItem
          attempt={attempt}
          cities={cities}
          // biome-ignore lint/suspicious/noArrayIndexKey: attempts are a record and never move.
          key={index}
          last={index === attempts.length - 1}
        />
      ))}
    </ol>
  );
}

interface AttemptItemProps {
  attempt: Attempt;
  last: boolean;
  cities: ReadonlyMap<string, string>;
}

function AttemptItem({ attempt, last, cities }: AttemptItemProps) {
  const served = attempt.outcome === 'served';
  return (
    <li className="relative grid grid-cols-[1.25rem_minmax(0,1fr)] gap-x-3 pb-5 last:pb-0">
      {!last && <span aria-hidden="true" className="absolute top-4 bottom-0 left-[0.5625rem] w-px bg-line" />}
      <span
        aria-hidden="true"
        className={classNames(
          'mt-1 ml-1 size-3 rounded-full border-2',
          served ? 'border-good bg-good' : 'border-danger bg-surface',
        )}
      />
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className="font-medium">{attempt.provider}</span>
          <span className="text-ink-3">{cities.get(attempt.locode) ?? attempt.locode}</span>
          <Badge tone={served ? 'good' : 'danger'}>{attempt.outcome.replaceAll('_', ' ')}</Badge>
          {attempt.status !== null && <span className="tabular text-sm text-ink-3">HTTP {attempt.status}</span>}
          {attempt.first_byte_ms !== null && (
            <span className="tabular text-sm text-ink-3">
              provider first byte {milliseconds(attempt.first_byte_ms)}
            </span>
          )}
        </p>
        {attempt.error && <p className="mt-1 text-sm wrap-anywhere text-ink-2">{attempt.error}</p>}
      </div>
    </li>
  );
}
