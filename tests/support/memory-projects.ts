/** The projects of the memory store. */
import { type Account, type ApiKey, keyProjectId } from '../../src/domain/account.js';
import type { Project } from '../../src/domain/organisation.js';
import type { ProjectChange, ProjectStore, WorkloadStore } from '../../src/storage/store.js';

interface Rows {
  answer<T>(read: () => T): Promise<T>;
  account(id: string): Account;
  keys(): Iterable<ApiKey>;
}

export function memoryProjects({ answer, account, keys }: Rows): ProjectStore {
  const named = (accountId: string, name: string | undefined) =>
    [...account(accountId).projects.values()].find((project) => project.name === name);
  return {
    create: (project: Project, limit: number) =>
      answer(() => {
        const { projects } = account(project.accountId);
        if (named(project.accountId, project.name)) return 'exists';
        if (projects.size >= limit) return 'limit';
        projects.set(project.id, { ...project });
        return 'created';
      }),
    update: (accountId: string, id: string, { limits, ...change }: ProjectChange) =>
      answer(() => {
        const project = account(accountId).projects.get(id);
        if (!project) return { outcome: 'gone', ended: [] };
        if ((named(accountId, change.name) ?? project) !== project) return { outcome: 'exists', ended: [] };
        Object.assign(project, change, limits && { limits: { ...project.limits, ...limits } });
        return { outcome: 'changed', ended: [] };
      }),
    delete: (accountId: string, id: string) =>
      answer(() => {
        if ([...keys()].some((key) => key.projectId === id)) return { outcome: 'not_empty', ended: [] };
        return { outcome: account(accountId).projects.delete(id) ? 'deleted' : 'gone', ended: [] };
      }),
    keyCounts: (accountId: string) =>
      answer(() => {
        const counts = new Map<string, number>();
        for (const key of keys()) {
          const id = keyProjectId(key);
          if (key.accountId === accountId && id !== null) counts.set(id, (counts.get(id) ?? 0) + 1);
        }
        return counts;
      }),
  };
}

/** No project trusts anybody. */
export const noWorkloads: WorkloadStore = { ownerOf: async () => null, create: async () => 'untrusted' };
