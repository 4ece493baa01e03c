/** The queries of projects, members, settings and the audit of an account. */
import { infiniteQueryOptions, type QueryFunctionContext, queryOptions } from '@tanstack/react-query';
import { api, query } from './client.js';
import type {
  AccountSettings,
  AuditEntry,
  BudgetState,
  Invitation,
  Member,
  Project,
  ProjectName,
} from './organisation-types.js';
import type { List, RoutingPolicy } from './types.js';

const projectsPage = 200;
/** As many as an account may have: behind them there is nothing to ask for. */
const projectsMax = 1_000;

/** All projects with their figures. On the first time those of each page are there as soon as it is read. */
async function allProjects({ client, queryKey }: Pick<QueryFunctionContext, 'client' | 'queryKey'>) {
  const isFirst = client.getQueryData(queryKey) === undefined;
  let all: Project[] = [];
  for (let after: string | undefined; ; ) {
    const { data } = await api<List<Project>>(`projects${query({ limit: projectsPage, after })}`);
    all = [...all, ...data];
    if (data.length < projectsPage || all.length >= projectsMax) return all;
    if (isFirst) client.setQueryData(queryKey, all);
    after = data.at(-1)?.id;
  }
}

export const projectsQuery = queryOptions({ queryKey: ['projects'], queryFn: allProjects });

/** All projects in one answer, so that every list can name and filter by them. */
export const projectNamesQuery = queryOptions({
  queryKey: ['projects', 'names'],
  queryFn: async () => (await api<List<ProjectName>>('project-names')).data,
});

export const projectPath = (id: string) => `projects/${encodeURIComponent(id)}`;

export const projectQuery = (id: string) =>
  queryOptions({ queryKey: ['projects', id], queryFn: () => api<Project>(projectPath(id)) });

export const projectPolicyQuery = (id: string) =>
  queryOptions({
    queryKey: ['projects', id, 'policy'],
    queryFn: () => api<RoutingPolicy>(`${projectPath(id)}/routing-policy`),
  });

const membersPage = 100;

function pages<Entry extends { id: string }>(key: string, path: string, filters: Record<string, string | undefined>) {
  return infiniteQueryOptions({
    queryKey: [key, filters],
    queryFn: ({ pageParam }) =>
      api<List<Entry>>(path + query({ ...filters, limit: membersPage, after: pageParam || undefined })),
    initialPageParam: '',
    getNextPageParam: ({ data }) => (data.length === membersPage ? data.at(-1)?.id : undefined),
  });
}

/** `find` is a part of the email or the name. */
export const memberPages = (find: string) => pages<Member>('members', 'members', { find });

/** Those who can hold a key, to choose from. */
export const holdersQuery = (find: string) =>
  queryOptions({
    queryKey: ['members', 'holders', find],
    queryFn: async () => (await api<List<Member>>(`members${query({ find, limit: 50 })}`)).data,
  });

export const invitationsQuery = queryOptions({
  queryKey: ['invitations'],
  queryFn: async () => (await api<List<Invitation>>(`invitations${query({ limit: 200 })}`)).data,
});

export const accountSettingsQuery = queryOptions({
  queryKey: ['account-settings'],
  queryFn: () => api<AccountSettings>('account'),
});

export const budgetQuery = queryOptions({ queryKey: ['budget'], queryFn: () => api<BudgetState>('budget') });

export const ownAuditPages = (action: string | undefined) => pages<AuditEntry>('own-audit', 'audit', { action });
