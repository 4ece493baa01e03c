/** The figures of a report in one row, each with a link to the requests behind it. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ReportFigures, ReportSums } from '../../api/report-types.js';
import { carbon, change, count, roughMilliseconds, share, shortCount } from '../../format/figures.js';
import { plotValue } from '../../format/money.js';
import { Amount } from '../amount.js';
import { Card } from '../card.js';
import { classNames } from '../class-names.js';
import type { UsageSearch } from '../usage-link.js';

export interface LinkedStat {
  label: string;
  value: ReactNode;
  /** Where the figure leads; none where there is no page for it. */
  to?: { path: string; search: UsageSearch };
  /** The exact figure or its meaning, on hover and focus. */
  exact?: string | undefined;
  note?: ReactNode;
  isBad?: boolean;
}

export function StatRow({ stats }: { stats: readonly LinkedStat[] }) {
  return (
    <Card>
      <dl className="grid grid-cols-2 gap-x-4 gap-y-5 sm:grid-cols-4 xl:grid-cols-[repeat(auto-fit,minmax(6.5rem,auto))]">
        {stats.map((stat) => (
          <StatItem key={stat.label} {...stat} />
        ))}
      </dl>
    </Card>
  );
}

function StatItem({ label, value, to, exact, note, isBad }: LinkedStat) {
  return (
    <div className="min-w-0">
      <dt className="text-sm text-ink-3">{label}</dt>
      <dd
        className="tabular mt-0.5 text-xl font-semibold tracking-tight whitespace-nowrap text-ink"
        data-figure={label}
      >
        {to ? (
          <Link
            className="rounded-sm underline decoration-transparent underline-offset-4 hover:decoration-current"
            data-exact={exact}
            search={to.search}
            to={to.path}
          >
            {value}
          </Link>
        ) : (
          <span data-exact={exact}>{value}</span>
        )}
      </dd>
      <dd className={classNames('tabular mt-0.5 min-h-5 text-sm', isBad ? 'text-danger' : 'text-ink-3')}>{note}</dd>
    </div>
  );
}

export interface FigureStatOptions {
  totals: ReportFigures;
  previous: ReportSums | null;
  /** The page and the filters that the figures have. */
  path: string;
  search: UsageSearch;
}

/** The figures that every report has. */
export function figureStats({ totals, previous, path, search }: FigureStatOptions): LinkedStat[] {
  const to = (more: UsageSearch = {}) => ({ path, search: { ...search, ...more } });
  const coverage = share(totals.carbon_requests, totals.requests);
  return [
    {
      label: 'Spend',
      value: <Amount as="total" inside usd={totals.spend_usd} />,
      to: to(),
      note: previous && against(plotValue(totals.spend_usd), plotValue(previous.spend_usd)),
    },
    {
      label: 'Requests',
      value: shortCount(totals.requests),
      exact: exactCount(totals.requests),
      to: to(),
      note: previous && against(totals.requests, previous.requests),
    },
    {
      label: 'Errors',
      value: shortCount(totals.errors),
      exact: exactCount(totals.errors),
      to: to({ status: 'error' }),
      note: totals.requests > 0 && `${share(totals.errors, totals.requests)} of requests`,
      isBad: totals.errors > totals.requests * 0.05,
    },
    {
      label: 'Tokens',
      value: shortCount(totals.tokens),
      exact: `${count(totals.prompt_tokens)} prompt, ${count(totals.completion_tokens)} completion`,
      to: to({ group: 'model' }),
      note: totals.tokens > 0 && `${shortCount(totals.cached_tokens)} from caches`,
    },
    {
      label: 'First byte',
      value: roughMilliseconds(totals.first_byte_p50_ms),
      exact: 'Median time from a request’s arrival to the first byte of its answer, to within a twentieth',
      to: to({ sort: 'latency' }),
      note: totals.first_byte_p95_ms !== null && `p95 ${roughMilliseconds(totals.first_byte_p95_ms)}`,
    },
    {
      label: 'Grid intensity',
      value: carbon(totals.carbon),
      exact: 'gCO₂e per kWh of the grids that served, weighted by tokens. Known only where a figure is published.',
      to: to({ group: 'locode' }),
      note: totals.requests > 0 && `known for ${coverage} of requests`,
    },
  ];
}

function exactCount(value: number): string | undefined {
  return shortCount(value) === count(value) ? undefined : count(value);
}

function against(now: number, before: number): ReactNode {
  const changed = change(now, before);
  const text = changed ? changed.text : before === 0 ? 'none before' : 'as before';
  return <span title="Compared with the period before">{text}</span>;
}
