/** Says why the spend of a project is more than the Usage page shows for the same days. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, query } from '../../api/client.js';
import type { Project } from '../../api/organisation-types.js';
import type { Report } from '../../api/report-types.js';
import { Amount } from '../../components/amount.js';
import { periodOf } from '../../components/period/period.js';
import { spentDays } from '../../format/budget.js';
import { isNegative, isZero, sumUsd } from '../../format/money.js';

/** Read after the project's own figure, so that a request in between does not look like a difference. */
const usageOf = ({ id, spent_usd: spent }: Project, days: { from: string; to: string }) => {
  const { from, to } = periodOf(days);
  return queryOptions({
    queryKey: ['report', 'beside', id, spent, days],
    queryFn: () => api<Report>(`usage/report${query({ project: id, from, to })}`),
  });
};

export function SpendNote({ project }: { project: Project }) {
  const days = spentDays(project, Date.now());
  const { data: report } = useQuery(usageOf(project, days));
  // A budget that never starts again may count days that no report reaches.
  const isCut = project.budget?.period === 'never' && days.from > project.created_at.slice(0, 10);
  if (!report || isCut) return null;
  const more = sumUsd([project.spent_usd, `-${report.totals.spend_usd}`]);
  if (isZero(more) || isNegative(more)) return null;
  return (
    <p className="text-sm text-ink-3">
      <Amount as="total" usd={more} /> of it is not in Usage: the list price of what your own credentials paid for, or
      spend from before your move to this gateway.
    </p>
  );
}
