/** The figures of the period in one row, each compared with the previous period. */
import type { Overview } from '../../api/types.js';
import { Card } from '../../components/card.js';
import { Stat, type StatProps } from '../../components/stat.js';
import { carbon, change, count, milliseconds, plural, share, shortCount } from '../../format/figures.js';
import { plotValue, shortUsd, usd } from '../../format/money.js';

export function SummaryStats({ data: { totals, previous, balance_usd: balance } }: { data: Overview }) {
  const stats: StatProps[] = [
    { label: 'Balance', value: shortUsd(balance), title: usd(balance), note: 'now' },
    {
      label: 'Spend',
      value: shortUsd(totals.spend_usd),
      title: usd(totals.spend_usd),
      ...against(plotValue(totals.spend_usd), plotValue(previous.spend_usd)),
    },
    {
      label: 'Requests',
      value: shortCount(totals.requests),
      title: count(totals.requests),
      ...against(totals.requests, previous.requests),
    },
    {
      label: 'Errors',
      value: shortCount(totals.errors),
      note: `${share(totals.errors, totals.requests)} of requests`,
      noteTone: totals.errors > totals.requests * 0.05 ? 'bad' : 'neutral',
    },
    {
      label: 'First byte',
      value: milliseconds(totals.first_byte_p50_ms),
      note: `p95 ${milliseconds(totals.first_byte_p95_ms)}`,
    },
    {
      label: 'Carbon',
      value: carbon(totals.carbon),
      title: 'Mean carbon intensity of the grids that served your requests, weighted by tokens',
      note: 'CO₂e per kWh',
    },
  ];
  return (
    <Card>
      <dl className="grid grid-cols-2 gap-x-6 gap-y-5 sm:grid-cols-3 xl:grid-cols-6">
        {stats.map((stat) => (
          <Stat key={stat.label} {...stat} />
        ))}
      </dl>
      <p className="sr-only">{plural(totals.tokens, 'token')} in this period.</p>
    </Card>
  );
}

function against(now: number, before: number): Pick<StatProps, 'note'> {
  const changed = change(now, before);
  return { note: changed ? `${changed.text} vs previous` : 'previous: none' };
}
