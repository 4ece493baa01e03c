/** What is spent of a budget, as a bar, and what will be spent by the end of its period. */
import type { Budget } from '../../api/organisation-types.js';
import { periodNames, projection } from '../../format/budget.js';
import { percent } from '../../format/figures.js';
import { plotValue, totalUsd } from '../../format/money.js';
import { utcDay } from '../../format/time.js';
import { Amount } from '../amount.js';
import { classNames } from '../class-names.js';

export interface BudgetBarProps {
  budget: Budget;
  spent: string;
  /** Only the bar and the figures, for a row of a table. */
  short?: boolean;
}

export function BudgetBar({ budget: { limit_usd: limit, period }, spent, short }: BudgetBarProps) {
  const whole = plotValue(limit);
  const partOf = (amount: string) => (whole === 0 ? 1 : plotValue(amount) / whole);
  const part = partOf(spent);
  const later = projection(spent, period, Date.now());
  const projected = later && partOf(later.usd);
  const width = (share: number) => `${Math.min(1, share) * 100}%`;
  return (
    <span className="flex min-w-44 flex-col gap-1">
      <span className="flex flex-wrap items-baseline gap-x-1.5">
        <Amount as="total" className={short ? '' : 'text-xl font-semibold tracking-tight'} usd={spent} />
        <span className="text-ink-3">
          of <Amount as="total" usd={limit} /> spent {periodNames[period]}
        </span>
      </span>
      <span aria-hidden className="relative h-1.5 overflow-hidden rounded-full bg-sunken">
        {projected !== null && (
          <span className="absolute inset-y-0 left-0 bg-accent/30" style={{ width: width(projected) }} />
        )}
        <span
          className={classNames('absolute inset-y-0 left-0', part >= 1 ? 'bg-danger' : 'bg-accent')}
          style={{ width: width(part) }}
        />
      </span>
      <span className="sr-only">{percent(Math.min(part, 1))} of the budget is spent.</span>
      {later && (
        <span className={classNames('text-sm', (projected ?? 0) > 1 ? 'text-danger' : 'text-ink-3')}>
          {`At this rate ${totalUsd(later.usd)}`}
          {!short && ` by ${utcDay(later.end)}`}
        </span>
      )}
      {part >= 1 && <span className="text-sm text-danger">Used up: requests are refused.</span>}
    </span>
  );
}
