/** A list of requests: one line for each on a wide screen, with cost and status always in view. */
import { Link } from '@tanstack/react-router';
import type { Generation } from '../../api/usage-types.js';
import { count, milliseconds } from '../../format/figures.js';
import { exactTime, rowTime } from '../../format/time.js';
import { Amount } from '../amount.js';
import { SortableTable, type SortColumn } from '../sortable-table.js';
import { ModelName } from './model-name.js';
import { Outcome } from './outcome.js';
import { hasFallback } from './request-facts.js';

/** The orders that a click on a header gives, and their names in the URL. */
const orders: Record<string, { by: string; descending: boolean }> = {
  newest: { by: 'time', descending: true },
  oldest: { by: 'time', descending: false },
  cost: { by: 'cost', descending: true },
  latency: { by: 'latency', descending: true },
  tokens: { by: 'tokens', descending: true },
};

export interface RequestsTableProps {
  rows: readonly Generation[];
  sort: string;
  onSort: (sort: string) => void;
  /** The account, for operators, so that links lead to its requests. */
  account?: string;
}

export function RequestsTable({ rows, sort, onSort, account }: RequestsTableProps) {
  return (
    <SortableTable
      caption="Requests"
      columns={columnsOf(account)}
      onSort={(by) => onSort(by === 'time' ? (sort === 'newest' ? 'oldest' : 'newest') : by)}
      order={orders[sort] ?? { by: 'time', descending: true }}
      rowKey={({ id }) => id}
      rows={rows}
    />
  );
}

function columnsOf(account: string | undefined): SortColumn<Generation>[] {
  return [
    {
      header: 'Time',
      sort: 'time',
      lead: true,
      cell: ({ id, created_at: at }) => (
        <Link
          className="tabular text-ink underline decoration-field/60 underline-offset-4 hover:decoration-ink"
          params={{ id }}
          search={{ account }}
          title={exactTime(at)}
          to="/usage/$id"
        >
          {rowTime(at)}
        </Link>
      ),
    },
    {
      header: 'Model',
      grow: true,
      className: 'md:min-w-40!',
      cell: ({ requested_model: id }) => <ModelName id={id} />,
    },
    { header: 'Served by', cell: (generation) => <ServedBy of={generation} /> },
    {
      header: 'Key',
      // Between a phone and a wide screen, cost and status need the space.
      className: 'md:max-xl:hidden',
      cell: ({ key_name: name }) => (
        <span
          className="block text-ink-2 md:w-max md:max-w-44 md:whitespace-normal md:wrap-break-word 2xl:max-w-60"
          title={name}
        >
          {name}
        </span>
      ),
    },
    {
      header: 'Tokens',
      sort: 'tokens',
      end: true,
      cell: ({ prompt_tokens: prompt, completion_tokens: completion }) => (
        <span title="Prompt / completion">
          {count(prompt)} / {count(completion)}
        </span>
      ),
    },
    {
      header: 'First byte / end',
      sort: 'latency',
      className: 'md:max-xl:hidden',
      title: 'From arrival to the first byte for the caller, and to the end of the answer',
      end: true,
      cell: ({ first_byte_ms: first, latency_ms: end }) => `${milliseconds(first)} / ${milliseconds(end)}`,
    },
    { header: 'Cost', sort: 'cost', end: true, cell: ({ cost_usd: cost }) => <Amount as="row" inside usd={cost} /> },
    { header: 'Status', end: true, cell: (generation) => <Outcome of={generation} /> },
  ];
}

function ServedBy({ of: generation }: { of: Generation }) {
  const { provider, locode } = generation;
  if (!provider) return <span className="text-ink-3">Not served</span>;
  return (
    <span className="block truncate text-ink-2 md:max-w-28 2xl:max-w-none" title={`${provider} · ${locode}`}>
      {provider}
      <span className="text-ink-3"> · {locode}</span>
      {hasFallback(generation) && (
        <span
          className="relative ml-1.5 text-xs text-warn"
          title={`Tried: ${generation.providers_attempted.join(', ')}`}
        >
          <span aria-hidden="true" className="2xl:hidden">
            ↻
          </span>
          <span className="max-2xl:sr-only">after fallback</span>
        </span>
      )}
    </span>
  );
}
