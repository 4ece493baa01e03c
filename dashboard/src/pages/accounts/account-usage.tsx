/** An account's usage and its requests, for operators. */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReportGroup } from '../../api/report-types.js';
import { Card } from '../../components/card.js';
import { MoreButton } from '../../components/more-button.js';
import { PageData } from '../../components/page-data.js';
import type { PeriodSearch } from '../../components/period/period.js';
import { PeriodPicker } from '../../components/period/period-picker.js';
import { GroupTable, groupNames } from '../../components/report/group-table.js';
import { figureStats, StatRow } from '../../components/report/stat-row.js';
import { RequestsTable } from '../../components/requests/requests-table.js';
import { Segmented } from '../../components/segmented.js';
import { EmptyState, ErrorState, Skeleton, SkeletonRows } from '../../components/states.js';
import { accountPeriod, accountReport, accountRequests, firstGroup, firstSort } from './account-queries.js';

const groups: readonly ReportGroup[] = ['key', 'model', 'provider', 'locode', 'status'];

export function AccountUsage({ account }: { account: string }) {
  const search = useSearch({ strict: false }) as PeriodSearch;
  const navigate = useNavigate();
  const period = accountPeriod(search);
  const set = (change: PeriodSearch) =>
    void navigate({ to: '/accounts/$id', params: { id: account }, search: { ...search, ...change }, replace: true });
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h2 className="text-lg font-semibold tracking-tight">Usage</h2>
        <PeriodPicker onChange={set} period={period} />
      </div>
      <AccountSums account={account} search={search} />
      <AccountRequests account={account} search={search} />
    </>
  );
}

function AccountSums({ account, search }: { account: string; search: PeriodSearch }) {
  const [group, setGroup] = useState<ReportGroup>(firstGroup);
  const report = useQuery({ ...accountReport(account, search, group), placeholderData: keepPreviousData });
  return (
    <PageData query={report} skeleton={<Skeleton className="h-40" />}>
      {({ totals, previous, groups: found }) => (
        <>
          <StatRow stats={figureStats({ totals, previous, path: '', search: {} }).map(({ to: _, ...stat }) => stat)} />
          <Card
            action={
              <Segmented
                label="Group by"
                onChange={(value) => setGroup(value as ReportGroup)}
                options={groups.map((value) => ({ value, label: value === 'key' ? 'Key' : groupNames[value] }))}
                value={group}
              />
            }
            flush
            title="Usage in groups"
          >
            {(found[group] ?? []).length === 0 ? (
              <EmptyState title="No requests in this period" />
            ) : (
              <GroupTable group={group} key={group} limit={20} members={found[group] ?? []} plain search={{}} />
            )}
          </Card>
        </>
      )}
    </PageData>
  );
}

function AccountRequests({ account, search }: { account: string; search: PeriodSearch }) {
  const [sort, setSort] = useState(firstSort);
  const pages = useInfiniteQuery({ ...accountRequests(account, search, sort), placeholderData: keepPreviousData });
  const rows = pages.data?.pages.flatMap(({ data }) => data);
  return (
    <Card flush title="Requests">
      {rows === undefined ? (
        pages.isError ? (
          <ErrorState error={pages.error} onRetry={() => void pages.refetch()} />
        ) : (
          <SkeletonRows rows={6} />
        )
      ) : rows.length === 0 ? (
        <EmptyState title="No requests in this period" />
      ) : (
        <>
          <RequestsTable account={account} onSort={setSort} rows={rows} sort={sort} />
          <MoreButton pages={pages} />
        </>
      )}
    </Card>
  );
}
