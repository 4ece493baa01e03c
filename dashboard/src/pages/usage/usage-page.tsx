/** The Usage page: totals and a chart of the filtered requests, groups, and every request; all choices are in the URL. */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { apiBase, query } from '../../api/client.js';
import type { Report } from '../../api/report-types.js';
import { buttonClass } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { Select } from '../../components/field.js';
import { DownloadIcon, UsageIcon } from '../../components/icons.js';
import { MoreButton } from '../../components/more-button.js';
import { PageHeader } from '../../components/page-header.js';
import { periodSearch } from '../../components/period/period.js';
import { PeriodPicker } from '../../components/period/period-picker.js';
import { GroupTable, groupNames } from '../../components/report/group-table.js';
import { figureStats, StatRow } from '../../components/report/stat-row.js';
import { type ChartName, TimeCharts } from '../../components/report/time-charts.js';
import { RequestsTable } from '../../components/requests/requests-table.js';
import { Segmented } from '../../components/segmented.js';
import { EmptyState, ErrorState, Skeleton, SkeletonRows } from '../../components/states.js';
import { LiveToggle, liveMs } from './live-toggle.js';
import { UsageFilterBar } from './usage-filters.js';
import {
  filtersOf,
  type UsageSearchState,
  usageGroup,
  usageGroups,
  usageParameters,
  usagePeriod,
  usageReport,
  usageRequests,
} from './usage-queries.js';

const groupOptions = [
  { value: '', label: 'Not grouped' },
  ...usageGroups.map((value) => ({ value, label: `By ${groupNames[value]}` })),
];

export function Page() {
  const search = useSearch({ strict: false }) as UsageSearchState;
  const navigate = useNavigate();
  const filters = filtersOf(search);
  const period = usagePeriod(search);
  const group = usageGroup(search);
  const isLive = search.live !== undefined;
  const refetchInterval = isLive ? liveMs : (false as const);
  const report = useQuery({ ...usageReport(search), placeholderData: keepPreviousData, refetchInterval });
  const set = (change: UsageSearchState) =>
    void navigate({ to: '/usage', search: { ...search, ...change }, replace: true });
  const kept = { ...filters, ...periodSearch(period) };
  return (
    <div data-wide>
      <PageHeader
        actions={
          <>
            <LiveToggle
              isLive={isLive}
              onChange={(live) => set({ live: live ? 'on' : undefined } as UsageSearchState)}
            />
            <a
              className={buttonClass('secondary')}
              download
              href={`${apiBase}usage.csv${query(usageParameters(search))}`}
            >
              <DownloadIcon className="size-4" />
              Export CSV
            </a>
          </>
        }
        description="Every request, who served it, and what it cost. Prompts and answers are never stored."
        title="Usage"
      />
      <div className="mb-4">
        <PeriodPicker onChange={set} period={period} />
      </div>
      <UsageFilterBar filters={filters} isReady={!report.isPending} onChange={set} />
      <div className="flex flex-col gap-5">
        {report.data ? (
          <Sums
            data={report.data}
            group={
              <Select
                hideLabel
                label="Group by"
                onChange={(event) => set({ group: event.target.value || undefined } as UsageSearchState)}
                options={groupOptions}
                value={group ?? ''}
              />
            }
            search={kept}
          />
        ) : report.isError ? (
          <Card flush>
            <ErrorState error={report.error} onRetry={() => void report.refetch()} />
          </Card>
        ) : (
          <Skeleton className="h-80" />
        )}
        {group && report.data?.groups[group] && (
          <Card flush title={`By ${groupNames[group]}`}>
            {report.data.totals.requests === 0 ? (
              <EmptyState title="No requests in this period" />
            ) : (
              <GroupTable group={group} key={group} members={report.data.groups[group]} search={kept} />
            )}
          </Card>
        )}
        <Requests
          isFiltered={Object.keys(filters).length > 0}
          isLive={isLive}
          onSort={(sort) => set({ sort: sort === 'newest' ? undefined : sort } as UsageSearchState)}
          search={search}
        />
      </div>
    </div>
  );
}

const charts = [
  { value: 'spend', label: 'Spend' },
  { value: 'requests', label: 'Requests' },
  { value: 'tokens', label: 'Tokens' },
  { value: 'errors', label: 'Error rate' },
  { value: 'first_byte', label: 'First byte' },
];

interface SumsProps {
  data: Report;
  search: Record<string, string | undefined>;
  /** Chooses the group. */
  group: ReactNode;
}

function Sums({ data, search, group }: SumsProps) {
  const [chart, setChart] = useState('requests');
  return (
    <>
      <StatRow stats={figureStats({ totals: data.totals, previous: data.previous, path: '/usage', search })} />
      <div className="flex flex-col gap-2">
        <div className="flex flex-wrap items-center justify-between gap-3">
          {group}
          <Segmented label="Chart" onChange={setChart} options={charts} value={chart} />
        </div>
        <TimeCharts data={data} low only={[chart as ChartName]} />
      </div>
    </>
  );
}

interface RequestsProps {
  search: UsageSearchState;
  isFiltered: boolean;
  isLive: boolean;
  onSort: (sort: string) => void;
}

function Requests({ search, isFiltered, isLive, onSort }: RequestsProps) {
  const pages = useInfiniteQuery({
    ...usageRequests(search),
    placeholderData: keepPreviousData,
    refetchInterval: isLive ? liveMs : false,
  });
  const rows = pages.data?.pages.flatMap(({ data }) => data);
  const sort = search.sort ?? 'newest';
  return (
    <Card description={sortNotes[sort]} flush title="Requests">
      {rows === undefined ? (
        pages.isError ? (
          <ErrorState error={pages.error} onRetry={() => void pages.refetch()} />
        ) : (
          <SkeletonRows rows={8} />
        )
      ) : rows.length === 0 ? (
        <NoRequests isFiltered={isFiltered} />
      ) : (
        <>
          <RequestsTable onSort={onSort} rows={rows} sort={sort} />
          <MoreButton pages={pages} />
        </>
      )}
    </Card>
  );
}

const sortNotes: Record<string, string> = {
  cost: 'The 100 most expensive requests of the period',
  latency: 'The 100 slowest requests of the period',
  tokens: 'The 100 requests of the period with the most tokens',
};

function NoRequests({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered ? (
    <EmptyState icon={UsageIcon} title="No request matches">
      Remove a filter, or choose a longer period.
    </EmptyState>
  ) : (
    <EmptyState icon={UsageIcon} title="No requests yet">
      Requests appear here when they end, with their cost and their route. If you have sent some, choose a longer
      period.
    </EmptyState>
  );
}
