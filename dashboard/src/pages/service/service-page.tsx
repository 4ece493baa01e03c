/** For operators: spend, requests, tokens and errors of all accounts, with the top accounts, models and providers. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { Report, ReportGroup, ReportMember } from '../../api/report-types.js';
import { Card } from '../../components/card.js';
import { PageData } from '../../components/page-data.js';
import { PageHeader } from '../../components/page-header.js';
import { type PeriodSearch, periodOf, periodSearch } from '../../components/period/period.js';
import { PeriodPicker } from '../../components/period/period-picker.js';
import { GroupTable } from '../../components/report/group-table.js';
import { figureStats, StatRow } from '../../components/report/stat-row.js';
import { TimeCharts } from '../../components/report/time-charts.js';
import { EmptyState, SkeletonRows } from '../../components/states.js';
import { serviceReport } from './service-queries.js';

const shown = 12;

const tables: { group: ReportGroup; title: string }[] = [
  { group: 'account', title: 'Top accounts' },
  { group: 'model', title: 'Top models' },
  { group: 'provider', title: 'Providers' },
  { group: 'locode', title: 'Regions' },
];

export function Page() {
  const search = useSearch({ strict: false }) as PeriodSearch;
  const navigate = useNavigate();
  const period = periodOf(search);
  const report = useQuery({ ...serviceReport(search), placeholderData: keepPreviousData });
  const set = (change: PeriodSearch) =>
    void navigate({ to: '/service', search: { ...search, ...change }, replace: true });
  return (
    <div data-wide>
      <PageHeader
        actions={<PeriodPicker onChange={set} period={period} />}
        description="The usage of every account of this service."
        title="All usage"
      />
      <PageData
        query={report}
        skeleton={
          <Card flush>
            <SkeletonRows rows={10} />
          </Card>
        }
      >
        {(data) => <Sums data={data} search={{ ...periodSearch(period) }} />}
      </PageData>
    </div>
  );
}

function Sums({ data, search }: { data: Report; search: Record<string, string | undefined> }) {
  const stats = figureStats({ totals: data.totals, previous: data.previous, path: '', search });
  return (
    <div className="flex flex-col gap-5">
      <StatRow stats={stats.map(({ to: _, ...stat }) => stat)} />
      <TimeCharts data={data} only={['spend', 'requests', 'tokens', 'errors']} />
      <div className="grid items-start gap-5 2xl:grid-cols-2">
        {tables.map(({ group, title }) => (
          <Card flush key={group} title={title}>
            {(data.groups[group] ?? []).length === 0 ? (
              <EmptyState title="No requests in this period" />
            ) : (
              <GroupTable
                group={group}
                limit={shown}
                members={data.groups[group] ?? []}
                plain
                search={search}
                {...(group === 'account' && { leadOf: accountLink(search) })}
              />
            )}
          </Card>
        ))}
      </div>
    </div>
  );
}

function accountLink(search: Record<string, string | undefined>) {
  return ({ id, name }: ReportMember) =>
    id === null ? null : (
      <Link
        className="font-medium text-ink underline decoration-field/60 underline-offset-4 hover:decoration-ink"
        params={{ id }}
        search={search}
        title={id}
        to="/accounts/$id"
      >
        {name}
      </Link>
    );
}
