/** What the page of one account reads. */
import { queryOptions } from '@tanstack/react-query';
import { api } from '../../api/client.js';
import { operatorReportQuery, operatorRequestPages } from '../../api/report.js';
import type { ReportGroup } from '../../api/report-types.js';
import type { Key, List } from '../../api/types.js';
import type { LedgerEntry, OperatorAccount } from '../../api/usage-types.js';
import { type PeriodSearch, periodOf } from '../../components/period/period.js';

export type AccountKey = Pick<Key, 'id' | 'name' | 'last_four' | 'expires_at' | 'state' | 'created_at'>;

export const accountPath = (id: string) => `operator/accounts/${encodeURIComponent(id)}`;

export const accountQuery = (id: string) =>
  queryOptions({ queryKey: ['operator', 'account', id], queryFn: () => api<OperatorAccount>(accountPath(id)) });

export const accountKeysQuery = (id: string) =>
  queryOptions({
    queryKey: ['operator', 'account', id, 'keys'],
    queryFn: async () => (await api<List<AccountKey>>(`${accountPath(id)}/keys`)).data,
  });

export const ledgerShown = 25;

export const accountLedgerQuery = (id: string) =>
  queryOptions({
    queryKey: ['operator', 'account', id, 'ledger'],
    queryFn: async () => (await api<List<LedgerEntry>>(`${accountPath(id)}/ledger?limit=${ledgerShown}`)).data,
  });

export const firstGroup: ReportGroup = 'model';
export const firstSort = 'newest';

export const accountPeriod = (search: PeriodSearch) => periodOf(search);

export function accountReport(account: string, search: PeriodSearch, group = firstGroup) {
  const { from, to } = accountPeriod(search);
  return operatorReportQuery({ account, from, to, by: group, compare: 'previous' });
}

export function accountRequests(account: string, search: PeriodSearch, sort = firstSort) {
  const { from, to } = accountPeriod(search);
  return operatorRequestPages({ account, from, to, sort });
}
