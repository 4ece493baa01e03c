/** The Usage page: every request of the account, newest first, with filters in the URL and a CSV export. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { apiBase, query } from '../../api/client.js';
import { generationPages } from '../../api/pages.js';
import type { Generation } from '../../api/usage-types.js';
import { buttonClass } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { DownloadIcon, UsageIcon } from '../../components/icons.js';
import { ModelId } from '../../components/model-id.js';
import { MoreButton } from '../../components/more-button.js';
import { PageHeader } from '../../components/page-header.js';
import { EmptyState, ErrorState, SkeletonRows } from '../../components/states.js';
import { type Column, Table } from '../../components/table.js';
import { count, milliseconds } from '../../format/figures.js';
import { usd } from '../../format/money.js';
import { dateTime } from '../../format/time.js';
import { Outcome } from './outcome.js';
import { isFiltered, periodStart, UsageFilterBar, type UsageFilters } from './usage-filters.js';

export function Page() {
  const filters = useSearch({ strict: false }) as UsageFilters;
  const navigate = useNavigate();
  const { period, ...rest } = filters;
  const sent = { ...rest, from: periodStart(period) };
  const pages = useInfiniteQuery(generationPages(sent));
  const rows = pages.data?.pages.flatMap(({ data }) => data);
  const set = (change: UsageFilters) =>
    void navigate({ to: '/usage', search: { ...filters, ...change }, replace: true });
  return (
    <>
      <PageHeader
        actions={
          <a className={buttonClass('secondary')} download href={`${apiBase}usage.csv${query(sent)}`}>
            <DownloadIcon className="size-4" />
            Export CSV
          </a>
        }
        description="Every request, who served it, and what it cost. Prompts and answers are never stored."
        title="Usage"
      />
      <UsageFilterBar filters={filters} onChange={set} />
      <Card flush>
        {rows === undefined ? (
          pages.isError ? (
            <ErrorState error={pages.error} onRetry={() => void pages.refetch()} />
          ) : (
            <SkeletonRows rows={8} />
          )
        ) : rows.length === 0 ? (
          <NoRequests filtered={isFiltered(filters)} />
        ) : (
          <>
            <Table caption="Requests" columns={columns} rowKey={({ id }) => id} rows={rows} />
            <MoreButton pages={pages} />
          </>
        )}
      </Card>
    </>
  );
}

function NoRequests({ filtered }: { filtered: boolean }) {
  return filtered ? (
    <EmptyState icon={UsageIcon} title="No request matches">
      Remove a filter, or choose a longer period.
    </EmptyState>
  ) : (
    <EmptyState icon={UsageIcon} title="No requests yet">
      Requests appear here when they end, with their cost and their route.
    </EmptyState>
  );
}

const columns: Column<Generation>[] = [
  {
    header: 'Time',
    lead: true,
    cell: ({ id, created_at: at }) => (
      <Link
        className="whitespace-nowrap text-ink underline decoration-field/60 underline-offset-4 hover:decoration-ink"
        params={{ id }}
        to="/usage/$id"
      >
        {dateTime(at)}
      </Link>
    ),
  },
  { header: 'Model', cell: ({ requested_model: id }) => <ModelId id={id} /> },
  {
    header: 'Served by',
    cell: ({ provider, locode, fallback_occurred: fallback }) =>
      provider ? (
        <span className="whitespace-nowrap text-ink-2">
          {provider}
          <span className="text-ink-3"> · {locode}</span>
          {fallback && <span className="ml-1.5 text-xs text-warn">after fallback</span>}
        </span>
      ) : (
        <span className="text-ink-3">Not served</span>
      ),
  },
  {
    header: 'API key',
    className: 'md:min-w-26',
    cell: ({ key_name: name }) => <span className="wrap-anywhere text-ink-2">{name}</span>,
  },
  {
    header: 'Tokens',
    end: true,
    cell: ({ prompt_tokens: prompt, completion_tokens: completion }) => (
      <span className="whitespace-nowrap" title="prompt → completion">
        {count(prompt)} → {count(completion)}
      </span>
    ),
  },
  {
    header: 'First byte',
    end: true,
    cell: ({ first_byte_ms: ms }) => <span className="whitespace-nowrap">{milliseconds(ms)}</span>,
  },
  { header: 'Cost', end: true, cell: ({ cost_usd: cost }) => usd(cost) },
  { header: 'Status', end: true, cell: (generation) => <Outcome of={generation} /> },
];
