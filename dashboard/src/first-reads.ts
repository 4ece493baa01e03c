/**
 * What each page reads first, by the path of its route. The router asks for it before the page's code is there, and before it knows the
 * session, so that a page does not wait for one after the other.
 */
import {
  accountSettingsQuery,
  budgetQuery,
  invitationsQuery,
  memberPages,
  ownAuditPages,
  projectNamesQuery,
  projectQuery,
  projectsQuery,
} from './api/organisation.js';
import { ledgerPages } from './api/pages.js';
import {
  accountsQuery,
  aliasesQuery,
  catalogueQuery,
  creditsQuery,
  fallbackQuery,
  gatesQuery,
  keysQuery,
  openPage,
  policyQuery,
  queryClient,
  routesQuery,
} from './api/queries.js';
import { modelHistoryQuery } from './api/records.js';
import { requestQuery } from './api/report.js';
import type { PeriodSearch } from './components/period/period.js';
import {
  accountKeysQuery,
  accountLedgerQuery,
  accountQuery,
  accountReport,
  accountRequests,
} from './pages/accounts/account-queries.js';
import { overviewReport } from './pages/overview/overview-queries.js';
import { serviceReport } from './pages/service/service-queries.js';
import { type UsageSearchState, usageReport, usageRequests } from './pages/usage/usage-queries.js';

type Search = PeriodSearch & UsageSearchState & { account?: string; find?: string; action?: string };
interface Params {
  id?: string;
  creator?: string;
  model?: string;
}
type Reads = (search: Search, params: Params) => Promise<void>[];

const client = queryClient;

const reads: Record<string, Reads> = {
  '/': (search) => [
    client.prefetchQuery(overviewReport(search)),
    client.prefetchQuery(creditsQuery),
    client.prefetchQuery(projectNamesQuery),
  ],
  '/usage': (search) => [
    client.prefetchQuery(usageReport(search)),
    client.prefetchInfiniteQuery(usageRequests(search)),
    client.prefetchQuery(projectNamesQuery),
  ],
  '/usage/$id': ({ account }, { id = '' }) => [client.prefetchQuery(requestQuery(id, account))],
  '/credits': () => [client.prefetchQuery(creditsQuery), client.prefetchInfiniteQuery(ledgerPages({ kind: '' }))],
  '/keys': () => [client.prefetchQuery(keysQuery), client.prefetchQuery(projectNamesQuery)],
  '/projects': () => [client.prefetchQuery(projectsQuery)],
  '/projects/$id': (_search, { id = '' }) => [client.prefetchQuery(projectQuery(id))],
  '/members': ({ find = '' }) => [
    client.prefetchInfiniteQuery(memberPages(String(find))),
    client.prefetchQuery(invitationsQuery),
    client.prefetchQuery(projectNamesQuery),
  ],
  '/settings': () => [client.prefetchQuery(accountSettingsQuery), client.prefetchQuery(budgetQuery)],
  '/audit-log': ({ action }) => [client.prefetchInfiniteQuery(ownAuditPages(action))],
  '/models': () => [client.prefetchQuery(catalogueQuery)],
  '/models/compare': () => [client.prefetchQuery(catalogueQuery)],
  '/models/$creator/$model': (_search, { creator, model }) => [
    client.prefetchQuery(catalogueQuery),
    client.prefetchQuery(modelHistoryQuery(`${creator}/${model}`)),
  ],
  '/playground': () => [client.prefetchQuery(catalogueQuery)],
  '/aliases': () => [client.prefetchQuery(aliasesQuery)],
  '/fallback': () => [client.prefetchQuery(fallbackQuery), client.prefetchQuery(catalogueQuery)],
  '/routing-policy': () => [
    client.prefetchQuery(policyQuery),
    client.prefetchQuery(catalogueQuery),
    client.prefetchQuery(gatesQuery),
  ],
  '/service': (search) => [client.prefetchQuery(serviceReport(search))],
  '/accounts': () => [client.prefetchQuery(accountsQuery)],
  '/accounts/$id': (search, { id = '' }) => [
    client.prefetchQuery(accountQuery(id)),
    client.prefetchQuery(accountReport(id, search)),
    client.prefetchInfiniteQuery(accountRequests(id, search)),
    client.prefetchQuery(accountKeysQuery(id)),
    client.prefetchQuery(accountLedgerQuery(id)),
  ],
  '/route-health': () => [client.prefetchQuery(routesQuery)],
  '/availability': () => [client.prefetchQuery(catalogueQuery)],
};

/** Errors are the page's to show: it finds them in the cache. */
export function readFirst(path: string, search: object, params: object): void {
  openPage(`${path} ${JSON.stringify(params)}`);
  if (Object.hasOwn(reads, path)) void reads[path]?.(search as Search, params as Params);
}
