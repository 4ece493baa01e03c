/** The queries of the pages, each with one cache key. A change names the keys that it invalidates. */
import { QueryClient, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, isApiError, whenSessionEnds } from './client.js';
import type { Alias, Catalogue, Gate, IdentityLink, Key, List, RoutingPolicy, Session } from './types.js';
import type { CheckoutState, Credits, Facets, OperatorAccount, RouteHealth } from './usage-types.js';

let openedPage = '';
let openedAtMs = 0;

/** Called with the name of a page before it is read and shown: what was read for an earlier page is read again. */
export function openPage(name: string): void {
  if (name === openedPage) return;
  openedPage = name;
  openedAtMs = Date.now();
}

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // Shows cached data at once and reads it again, so that a request that has just ended appears, however quickly one comes back to
      // a page. What the router has read for the page is not read again.
      staleTime: ({ state }) => (state.dataUpdatedAt >= openedAtMs ? 1_000 : 0),
      // Retries only requests that did not reach the gateway.
      retry: (failures, error) => failures < 2 && (!isApiError(error) || error.status === 0 || error.status >= 500),
      retryDelay: (attempt) => 400 * 2 ** attempt,
    },
  },
});

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async () => {
    const session = await api<Session>('session');
    rememberSession(session);
    return session;
  },
  staleTime: 60_000,
});

const hintKey = 'lodestone-signed-in';

/** Whether this browser was signed in when it last asked. Then pages read their data without waiting for the session. */
export function wasSignedIn(): boolean {
  try {
    return localStorage.getItem(hintKey) !== null;
  } catch {
    // Storage is blocked.
    return false;
  }
}

function rememberSession({ signed_in: isSignedIn }: Session): void {
  try {
    if (isSignedIn) localStorage.setItem(hintKey, '1');
    else localStorage.removeItem(hintKey);
  } catch {
    // Storage is blocked: pages wait for the session.
  }
}

/** Starts a new session and drops all data of the previous one. */
export function beginSession(session: Session): void {
  queryClient.clear();
  rememberSession(session);
  queryClient.setQueryData(sessionQuery.queryKey, session);
}

whenSessionEnds(() => {
  // A session that has not been read yet is being read.
  if (queryClient.getQueryData(sessionQuery.queryKey)) void queryClient.invalidateQueries({ queryKey: ['session'] });
});

export const identitiesQuery = queryOptions({
  queryKey: ['identities'],
  queryFn: async () => (await api<List<IdentityLink>>('identities')).data,
});

export const keysQuery = queryOptions({ queryKey: ['keys'], queryFn: async () => (await api<List<Key>>('keys')).data });

export const catalogueQuery = queryOptions({
  queryKey: ['catalogue'],
  queryFn: () => api<Catalogue>('catalogue'),
  staleTime: 60_000,
});

export const aliasesQuery = queryOptions({
  queryKey: ['aliases'],
  queryFn: async () => (await api<List<Alias>>('v1/aliases')).data,
});

export const fallbackQuery = queryOptions({
  queryKey: ['fallback'],
  queryFn: async () => (await api<{ fallback: { models: string[] } }>('v1/fallback')).fallback.models,
});

export const policyQuery = queryOptions({
  queryKey: ['policy'],
  queryFn: () => api<RoutingPolicy>('v1/routing-policy'),
});

/** The gates change only with the gateway's version. */
export const gatesQuery = queryOptions({
  queryKey: ['gates'],
  queryFn: () => api<{ data: Gate[] }>('policy/gates'),
  staleTime: Number.POSITIVE_INFINITY,
});

export const facetsQuery = queryOptions({ queryKey: ['facets'], queryFn: () => api<Facets>('usage/facets') });

export const creditsQuery = queryOptions({ queryKey: ['credits'], queryFn: () => api<Credits>('credits') });

const confirmMs = 2_000;
export const confirmsMax = 30;

/** Polls until the payment is credited, for at most a minute: some payment methods take days. */
export const checkoutQuery = (id: string) =>
  queryOptions({
    queryKey: ['checkout', id],
    queryFn: () => api<CheckoutState>(`credits/checkout/${encodeURIComponent(id)}`),
    refetchInterval: ({ state: { data, dataUpdateCount } }) =>
      data?.state === 'credited' || dataUpdateCount >= confirmsMax ? false : confirmMs,
  });

export const accountsQuery = queryOptions({
  queryKey: ['operator', 'accounts'],
  queryFn: async () => (await api<List<OperatorAccount>>('operator/accounts')).data,
});

export const routesQuery = queryOptions({
  queryKey: ['operator', 'routes'],
  queryFn: async () => (await api<List<RouteHealth>>('operator/routes')).data,
  refetchInterval: 10_000,
});

/** A mutation that reads the named queries again before it succeeds. */
export function useChange<In, Out>(change: (input: In) => Promise<Out>, stale: readonly (readonly unknown[])[]) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: () => Promise.all(stale.map((queryKey) => client.invalidateQueries({ queryKey }))),
  });
}
