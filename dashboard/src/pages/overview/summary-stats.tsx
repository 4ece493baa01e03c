/** The figures of the period in one row, each compared with the previous period. */
import type { Report } from '../../api/report-types.js';
import { Amount } from '../../components/amount.js';
import { figureStats, StatRow } from '../../components/report/stat-row.js';
import type { UsageSearch } from '../../components/usage-link.js';
import { useLack } from '../../components/why-not.js';
import { unknown } from '../../format/figures.js';

interface SummaryStatsProps {
  data: Report;
  balance: string | null;
  search: UsageSearch;
}

export function SummaryStats({ data: { totals, previous }, balance, search }: SummaryStatsProps) {
  const seesCredits = useLack('credits.read') === null;
  const value = balance === null ? unknown : <Amount as="total" inside usd={balance} />;
  return (
    <StatRow
      stats={[
        ...(seesCredits ? [{ label: 'Balance', value, to: { path: '/credits', search: {} }, note: 'now' }] : []),
        ...figureStats({ totals, previous, path: '/usage', search }),
      ]}
    />
  );
}
