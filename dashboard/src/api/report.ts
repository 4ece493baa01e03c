/** The queries of reports and of lists of requests, for the account itself and for operators. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, query } from './client.js';
import type { Report } from './report-types.js';
import type { List } from './types.js';
import type { AuditLogEntry, Generation } from './usage-types.js';

export type Parameters = Record<string, string | undefined>;

export const reportQuery = (parameters: Parameters) =>
  queryOptions({ queryKey: ['report', parameters], queryFn: () => api<Report>(`usage/report${query(parameters)}`) });

/** Of all accounts, or of the one that `account` names. */
export const operatorReportQuery = (parameters: Parameters) =>
  queryOptions({
    queryKey: ['operator', 'report', parameters],
    queryFn: () => api<Report>(`operator/report${query(parameters)}`),
  });

const pageSize = 100;

function pages<Entry extends { id: string }>(key: readonly unknown[], path: string, parameters: Parameters) {
  return infiniteQueryOptions({
    queryKey: [...key, parameters],
    queryFn: ({ pageParam }) => api<List<Entry>>(path + query({ ...parameters, limit: pageSize, after: pageParam })),
    initialPageParam: '',
    getNextPageParam: (page) => (page.has_more ? page.data.at(-1)?.id : undefined),
  });
}

export const requestPages = (parameters: Parameters) => pages<Generation>(['requests'], 'usage/requests', parameters);

/** The newest requests of the account. */
export const requestPageOf = (limit: string) =>
  queryOptions({
    queryKey: ['newest requests', limit],
    queryFn: async () => (await api<List<Generation>>(`usage/requests${query({ limit })}`)).data,
  });

export const operatorRequestPages = (parameters: Parameters) =>
  pages<Generation>(['operator', 'requests'], 'operator/requests', parameters);

export const auditPages = (parameters: Parameters) =>
  pages<AuditLogEntry>(['operator', 'audit'], 'operator/audit-log', parameters);

/** One request by its own id or by its request id; `account` is for operators. */
export const requestQuery = (id: string, account?: string) =>
  queryOptions({
    queryKey: ['generation', id, account],
    queryFn: async () => {
      const path = account
        ? `operator/requests/${encodeURIComponent(id)}${query({ account })}`
        : `v1/generation/${encodeURIComponent(id)}`;
      return (await api<{ data: Generation }>(path)).data;
    },
  });
