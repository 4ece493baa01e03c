/** The members of a group with their figures: sortable, each with links to the requests behind it, and with a row for what nobody served. */
import { type ReactNode, useState } from 'react';
import type { ReportGroup, ReportMember } from '../../api/report-types.js';
import { carbon, count, roughMilliseconds, shortCount } from '../../format/figures.js';
import { plotValue, sumUsd } from '../../format/money.js';
import { placeName } from '../../format/place.js';
import { Amount } from '../amount.js';
import { classNames } from '../class-names.js';
import { type Order, SortableTable, type SortColumn } from '../sortable-table.js';
import { memberSearch, UsageLink, type UsageSearch } from '../usage-link.js';

export const groupNames: Record<ReportGroup, string> = {
  key: 'API key',
  project: 'Project',
  model: 'Model',
  provider: 'Provider',
  locode: 'Region',
  status: 'Status',
  account: 'Account',
};

const sorts: Record<string, (member: ReportMember) => number> = {
  requests: ({ requests }) => requests,
  errors: ({ errors }) => errors,
  failed: ({ failed_attempts: failed }) => failed ?? 0,
  tokens: ({ tokens }) => tokens,
  first_byte: ({ first_byte_p50_ms: ms }) => ms ?? -1,
  carbon: (member) => member.carbon ?? -1,
  spend: ({ spend_usd: spend }) => plotValue(spend),
};

export interface GroupTableProps {
  group: ReportGroup;
  members: readonly ReportMember[];
  /** The filters of the page, which the links keep. */
  search: UsageSearch;
  /** Links of a member; by default its filtered usage. */
  leadOf?: (member: ReportMember) => ReactNode;
  /** How many members are shown; the others are behind a link of the caller. */
  limit?: number;
  /** Whether figures lead to requests of one's own account. */
  plain?: boolean;
}

export function GroupTable({ group, members, search, leadOf, limit, plain }: GroupTableProps) {
  const [order, setOrder] = useState<Order>({ by: 'spend', descending: true });
  const onSort = (by: string) =>
    setOrder((now) => ({ by, descending: now.by === by ? !now.descending : by !== 'name' }));
  const rows = shortened(sorted(members, order), limit);
  // The same width in every table, so that figures of tables below each other stand in line.
  const columns = columnsOf(group, search, { leadOf, plain }).map((column) =>
    column.end ? { ...column, className: classNames('md:min-w-20', column.className) } : column,
  );
  return (
    <SortableTable
      caption={`By ${groupNames[group]}`}
      columns={columns}
      onSort={onSort}
      order={order}
      rowKey={({ id }) => id ?? 'not served'}
      rows={rows}
    />
  );
}

function sorted(members: readonly ReportMember[], { by, descending }: Order): ReportMember[] {
  const sign = descending ? -1 : 1;
  const figure = sorts[by];
  return [...members].sort(
    (a, b) => sign * (figure ? figure(a) - figure(b) : a.name.localeCompare(b.name)) || b.requests - a.requests,
  );
}

const othersId = ' others';

/** With a row for the members that are left out, so that the rows still add up. What nobody served is never left out. */
function shortened(members: ReportMember[], limit = members.length): ReportMember[] {
  if (members.length <= limit) return members;
  const notServed = members.filter(({ id }) => id === null);
  const served = members.filter(({ id }) => id !== null);
  const kept = served.slice(0, limit - 1 - notServed.length);
  const others = served.slice(kept.length);
  const sum = (read: (member: ReportMember) => number) => others.reduce((all, member) => all + read(member), 0);
  return [
    ...kept,
    {
      id: othersId,
      name: `${others.length} others`,
      requests: sum(({ requests }) => requests),
      errors: sum(({ errors }) => errors),
      tokens: sum(({ tokens }) => tokens),
      prompt_tokens: sum(({ prompt_tokens: tokens }) => tokens),
      completion_tokens: sum(({ completion_tokens: tokens }) => tokens),
      cached_tokens: sum(({ cached_tokens: tokens }) => tokens),
      failed_attempts: sum(({ failed_attempts: failed }) => failed ?? 0),
      carbon_requests: sum(({ carbon_requests: known }) => known),
      spend_usd: sumUsd(others.map(({ spend_usd: spend }) => spend)),
      ...{ first_byte_p50_ms: null, first_byte_p95_ms: null, carbon: null },
    },
    ...notServed,
  ];
}

/** Below 1280 px these columns would take the space of the names. */
const roomy = 'max-xl:hidden';

type Links = Pick<GroupTableProps, 'leadOf' | 'plain'>;

function columnsOf(group: ReportGroup, search: UsageSearch, { leadOf, plain }: Links): SortColumn<ReportMember>[] {
  const linked = (member: ReportMember, more: UsageSearch, children: ReactNode) =>
    plain || member.id === othersId ? (
      children
    ) : (
      <UsageLink search={{ ...search, ...memberSearch(group, member.id), ...more }}>{children}</UsageLink>
    );
  const hasCarbon = group === 'model' || group === 'provider' || group === 'locode';
  return [
    {
      header: groupNames[group],
      sort: 'name',
      lead: true,
      grow: true,
      cell: (member) =>
        (member.id === othersId ? null : leadOf?.(member)) ??
        linked(member, {}, <MemberName group={group} member={member} />),
    },
    {
      header: 'Requests',
      sort: 'requests',
      end: true,
      cell: (member) => linked(member, {}, count(member.requests)),
    },
    {
      header: 'Errors',
      sort: 'errors',
      end: true,
      cell: (member) =>
        member.errors === 0 ? (
          <span className="text-ink-3">0</span>
        ) : (
          // A status is kept: not every answer with 200 was whole.
          linked(
            member,
            group === 'status' ? {} : { status: 'error' },
            <span className="text-danger">{count(member.errors)}</span>,
          )
        ),
    },
    ...(group === 'provider'
      ? [
          {
            header: 'Failed attempts',
            sort: 'failed',
            title:
              'Requests that this provider was tried for and that nobody served. They count as errors of “Not served”.',
            end: true,
            cell: ({ failed_attempts: failed = 0 }: ReportMember) => (
              <span className={failed > 0 ? 'text-danger' : 'text-ink-3'}>{count(failed)}</span>
            ),
          },
        ]
      : []),
    {
      header: 'Tokens',
      sort: 'tokens',
      end: true,
      wide: true,
      cell: ({ tokens }) => <span title={count(tokens)}>{shortCount(tokens)}</span>,
    },
    {
      header: 'First byte',
      sort: 'first_byte',
      title: 'Median time from arrival to the first byte for the caller',
      end: true,
      wide: true,
      className: roomy,
      cell: ({ first_byte_p50_ms: ms }) => roughMilliseconds(ms),
    },
    ...(hasCarbon
      ? [
          {
            header: 'Grid',
            sort: 'carbon',
            title: 'Grid intensity in gCO₂e/kWh, where it is published',
            end: true,
            wide: true,
            className: roomy,
            cell: (member: ReportMember) => carbon(member.carbon),
          },
        ]
      : []),
    { header: 'Spend', sort: 'spend', end: true, cell: ({ spend_usd: spend }) => <Amount as="total" usd={spend} /> },
  ];
}

function MemberName({ group, member }: { group: ReportGroup; member: ReportMember }) {
  const { id, name } = member;
  if (id === null) return <span className="text-ink-2">Not served</span>;
  if (id === othersId) return <span className="text-ink-2">{name}</span>;
  if (group === 'model') {
    return (
      <code className="text-sm" title={id}>
        {id}
      </code>
    );
  }
  if (group === 'locode') {
    return (
      <span title={id}>
        {placeName(member.city, id)} <span className="text-ink-3">{member.country ?? id}</span>
      </span>
    );
  }
  return <span title={id === name ? name : `${name} (${id})`}>{name}</span>;
}
