/** Queries for lists with pages: filters, and the next page after the last entry. */
import { infiniteQueryOptions } from '@tanstack/react-query';
import { api, query } from './client.js';
import type { List } from './types.js';
import type { LedgerEntry } from './usage-types.js';

const pageSize = 25;

function paged<Entry extends { id: string }>(key: string, path: string, filters: Record<string, string | undefined>) {
  return infiniteQueryOptions({
    queryKey: [key, filters],
    queryFn: ({ pageParam }) => api<List<Entry>>(path + query({ ...filters, limit: pageSize, after: pageParam })),
    initialPageParam: '',
    getNextPageParam: (page) => (page.has_more ? page.data.at(-1)?.id : undefined),
  });
}

export const ledgerPages = (filters: Record<string, string | undefined>) =>
  paged<LedgerEntry>('ledger', 'ledger', filters);
