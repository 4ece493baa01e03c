/** Creates, changes and deletes the projects of an account: first in the store, then in memory, then in the audit log. */
import { timeOrderedId } from '../../base/ids.js';
import type { Clock } from '../../base/time.js';
import type { Account } from '../../domain/account.js';
import type { Project, TrustEntry } from '../../domain/organisation.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { NewProject, ProjectChange, Store } from '../../storage/store.js';
import type { AccountChanges } from '../account-changes.js';
import { type Actor, type AuditLog, auditBudget } from '../audit.js';
import type { Identities } from '../identities.js';

/** The most projects that an account may have. */
const projectsMax = 1000;

interface ProjectsDeps {
  store: Pick<Store, 'projects'>;
  clock: Clock;
  audit: AuditLog;
  cache: Pick<Identities, 'changed' | 'forgetKey'>;
  changes: Pick<AccountChanges, 'run'>;
}

export class Projects {
  constructor(private readonly deps: ProjectsDeps) {}

  /** Throws project_exists and project_limit_reached. */
  async create(actor: Actor, account: Account, fields: NewProject): Promise<Project> {
    const createdAt = this.deps.clock.now();
    const project: Project = {
      ...{
        id: `proj-${timeOrderedId(createdAt)}`,
        accountId: account.id,
        name: fields.name,
        isDefault: false,
        createdAt,
      },
      ...{ budget: fields.budget ?? null, policy: fields.policy ?? null, trust: fields.trust ?? [] },
      limits: { requestsPerMinute: null, tokensPerMinute: null, ...fields.limits },
      importedFrom: fields.importedFrom ?? null,
    };
    await this.change(account, async () => {
      const outcome = await this.deps.store.projects.create(project, projectsMax);
      if (outcome === 'exists') throw gatewayError('project_exists', { name: project.name });
      if (outcome === 'limit') throw gatewayError('project_limit_reached', { limit: projectsMax });
      account.projects.set(project.id, project);
    });
    await this.deps.audit.record(actor, 'project.create', project.id, {
      account_id: account.id,
      ...auditFields(fields),
    });
    return project;
  }

  /** What is left out stays as it is. Throws project_exists. A policy is replaced, so running requests keep theirs. */
  async update(actor: Actor, account: Account, { id }: Project, change: ProjectChange): Promise<Project> {
    const changed = await this.change(account, async () => {
      const { outcome, ended } = await this.deps.store.projects.update(account.id, id, change, this.deps.clock.now());
      await this.endKeys(account, ended);
      if (outcome === 'exists') throw gatewayError('project_exists', { name: change.name ?? '' });
      const project = account.projects.get(id);
      if (outcome === 'gone' || !project) throw noSuchProject(id);
      const { limits, ...rest } = change;
      return Object.assign(project, rest, limits && { limits: { ...project.limits, ...limits } });
    });
    await this.deps.audit.record(actor, 'project.update', id, { account_id: account.id, ...auditFields(change) });
    return changed;
  }

  /** Throws project_is_default, and project_not_empty while a key belongs to it. */
  async delete(actor: Actor, account: Account, { id, name, isDefault }: Project): Promise<void> {
    if (isDefault) throw gatewayError('project_is_default', { name });
    await this.change(account, async () => {
      const { outcome, ended } = await this.deps.store.projects.delete(account.id, id);
      await this.endKeys(account, ended);
      if (outcome === 'not_empty') throw gatewayError('project_not_empty', { name });
      account.projects.delete(id);
    });
    await this.deps.audit.record(actor, 'project.delete', id, { account_id: account.id, name });
  }

  /** Keys of workloads that the store has ended. */
  private async endKeys(account: Account, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    for (const id of ids) this.deps.cache.forgetKey(id);
    await this.deps.cache.changed(ids.map((id) => `key:${id}@${account.id}` as const));
  }

  /** Other processes read the account again, also where this one found that its memory was behind. */
  private change<T>(account: Account, make: () => Promise<T>): Promise<T> {
    return this.deps.changes.run(account.id, async () => {
      const made = await make();
      await this.deps.cache.changed([`account:${account.id}`]);
      return made;
    });
  }
}

export function noSuchProject(id: string) {
  return gatewayError('resource_not_found', { what: 'project', id: id.slice(0, 100) });
}

/** As the API names them; the audit log is JSON, so an amount is decimal text. */
function auditFields({ budget, limits, trust, importedFrom, ...rest }: Partial<NewProject>): Record<string, unknown> {
  return {
    ...rest,
    ...(trust && { trust: trust.map(trustFields) }),
    ...(budget !== undefined && auditBudget(budget)),
    ...(importedFrom && { imported_from: importedFrom }),
    ...(limits?.requestsPerMinute !== undefined && { requests_per_minute: limits.requestsPerMinute }),
    ...(limits?.tokensPerMinute !== undefined && { tokens_per_minute: limits.tokensPerMinute }),
  };
}

function trustFields({ allowedModels, allowedProviders, ...entry }: TrustEntry) {
  return { ...entry, allowed_models: allowedModels, allowed_providers: allowedProviders };
}
