/** The Overview page: spend, requests, tokens, errors, latency and grid intensity over time, by model, API key, provider and region; first steps for a new account. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { creditsQuery } from '../../api/queries.js';
import { reportQuery } from '../../api/report.js';
import type { Report } from '../../api/report-types.js';
import { ProjectFilter } from '../../components/organisation/project-filter.js';
import { PageData } from '../../components/page-data.js';
import { PageHeader } from '../../components/page-header.js';
import { periodOf, periodSearch } from '../../components/period/period.js';
import { PeriodPicker } from '../../components/period/period-picker.js';
import { TimeCharts } from '../../components/report/time-charts.js';
import { Skeleton } from '../../components/states.js';
import type { UsageSearch } from '../../components/usage-link.js';
import { Breakdowns } from './breakdowns.js';
import { FirstSteps } from './first-steps.js';
import { MapCard } from './map-card.js';
import { type OverviewSearch, overviewReport } from './overview-queries.js';
import { SummaryStats } from './summary-stats.js';

export function Page() {
  const search = useSearch({ strict: false }) as OverviewSearch;
  const navigate = useNavigate();
  const period = periodOf(search);
  const report = useQuery({ ...overviewReport(search), placeholderData: keepPreviousData });
  const { data: credits } = useQuery(creditsQuery);
  // An account is new only if it had no request in a year; one quiet week is not enough.
  const quiet = report.data !== undefined && isQuiet(report.data);
  const { from, to } = periodOf({ range: '12mo' }, '12mo');
  const longer = useQuery({ ...reportQuery({ from, to }), enabled: quiet });
  const isNew = search.project === undefined && quiet && longer.data !== undefined && isQuiet(longer.data);
  const set = (change: OverviewSearch) => void navigate({ to: '/', search: { ...search, ...change }, replace: true });
  return (
    <div data-wide>
      <PageHeader
        actions={
          !isNew && (
            <div className="flex flex-wrap items-end gap-3">
              <ProjectFilter className="w-52" onChange={(project) => set({ project })} value={search.project ?? ''} />
              <PeriodPicker onChange={set} period={period} />
            </div>
          )
        }
        title="Overview"
      />
      <PageData query={report} skeleton={<OverviewSkeleton />}>
        {(data) => (
          <div className="flex flex-col gap-5">
            {isNew ? (
              <FirstSteps balance={credits?.balance_usd ?? '0'} />
            ) : (
              <Figures
                balance={credits?.balance_usd ?? null}
                data={data}
                search={{ ...periodSearch(period), ...(search.project && { project: search.project }) }}
              />
            )}
          </div>
        )}
      </PageData>
    </div>
  );
}

const isQuiet = ({ totals, previous }: Report) => totals.requests === 0 && (previous?.requests ?? 0) === 0;

function Figures({ data, search, balance }: { data: Report; search: UsageSearch; balance: string | null }) {
  return (
    <>
      <SummaryStats balance={balance} data={data} search={search} />
      <TimeCharts data={data} />
      <MapCard regions={(data.groups.locode ?? []).filter(({ id }) => id !== null)} search={search} />
      <Breakdowns data={data} search={search} />
    </>
  );
}

function OverviewSkeleton() {
  return (
    <div className="flex flex-col gap-5" role="status">
      <span className="sr-only">Loading</span>
      <Skeleton className="h-28" />
      <div className="grid gap-5 md:grid-cols-2">
        <Skeleton className="h-72" />
        <Skeleton className="h-72" />
      </div>
      <Skeleton className="h-80" />
    </div>
  );
}
