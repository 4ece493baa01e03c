/** What is stored about projects, and about the keys that workloads get from them. */
import type { ApiKey, Workload } from '../domain/account.js';
import type { Project } from '../domain/organisation.js';

/** The changeable fields of a project; absent fields stay, each limit for itself. */
export type ProjectChange = Partial<Pick<Project, 'name' | 'budget' | 'policy' | 'trust'>> & {
  limits?: Partial<Project['limits']>;
};

/** How a change of a project ended, and the keys that ended with it. */
interface Ending<Outcome> {
  readonly outcome: Outcome | 'gone';
  readonly ended: readonly string[];
}

export interface ProjectStore {
  /** `exists` where the account has a project of that name. Exact for parallel calls too. */
  create(project: Project, limit: number): Promise<'created' | 'exists' | 'limit'>;
  /** Ends the keys of workloads whose entry of `trust` is gone. */
  update(accountId: string, id: string, change: ProjectChange, nowMs: number): Promise<Ending<'changed' | 'exists'>>;
  /** `not_empty` while a key belongs to it. Those of workloads go with it. */
  delete(accountId: string, id: string): Promise<Ending<'deleted' | 'not_empty'>>;
  /** How many keys each project of an account has, by project id. Those of workloads do not count. */
  keyCounts(accountId: string): Promise<Map<string, number>>;
}

export interface WorkloadStore {
  /** The account of a project. */
  ownerOf(projectId: string): Promise<string | null>;
  /**
   * Stores a key and counts an exchange of the token, in one transaction. `used_up` where the token was exchanged as often as it may be,
   * `untrusted` where the project has no longer the entry that the key came by.
   */
  create(key: ApiKey & { workload: Workload }, token: ExchangedToken): Promise<'created' | 'used_up' | 'untrusted'>;
}

interface ExchangedToken {
  /** Names the token. */
  readonly digest: Buffer;
  /** Until then it is counted. */
  readonly endsAt: number;
  /** How often it may be exchanged. */
  readonly most: number;
}
