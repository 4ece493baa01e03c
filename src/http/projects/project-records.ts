/** The projects of an account as `/v1/projects`, the dashboard and the admin API show and change them. */
import type { FastifyRequest } from 'fastify';
import type { Actor } from '../../accounts/audit.js';
import { periodStart } from '../../accounts/keys/limit-period.js';
import { noSuchProject } from '../../accounts/projects/projects.js';
import { usdText } from '../../base/money.js';
import { type Account, keyProjectId } from '../../domain/account.js';
import type { Project } from '../../domain/organisation.js';
import { settledWaitMs } from '../api/generations.js';
import type { HttpDeps } from '../deps.js';
import { pageOf } from '../query.js';
import { budgetJson, newProject, projectChange, projectChangeOf, settingsFields, trustJson } from './project-fields.js';

export class ProjectRecords {
  constructor(private readonly deps: HttpDeps) {}

  /** The default project first, then the oldest. */
  async list(request: FastifyRequest, account: Account, reach: Project | null) {
    const all = reach ? [reach] : [...account.projects.values()];
    return { object: 'list', data: await this.shown(account, pageOf(request, all, 'project')) };
  }

  async one(account: Account, project: Project) {
    return (await this.shown(account, [project]))[0]!;
  }

  /** The body is checked before the account is looked up. */
  async create(request: FastifyRequest, actor: Actor, accountOf: () => Promise<Account>) {
    const { name, ...fields } = settingsFields(request, newProject);
    const account = await accountOf();
    const change = { ...projectChangeOf(fields), name };
    return this.one(account, await this.deps.directory.projects.create(actor, account, change));
  }

  async update(request: FastifyRequest, actor: Actor, account: Account, project: Project) {
    const change = projectChangeOf(settingsFields(request, projectChange));
    return this.one(account, await this.deps.directory.projects.update(actor, account, project, change));
  }

  delete(actor: Actor, account: Account, project: Project): Promise<void> {
    return this.deps.directory.projects.delete(actor, account, project);
  }

  private async shown(account: Account, projects: readonly Project[]) {
    const [counts, spent] = await Promise.all([
      this.deps.store.projects.keyCounts(account.id),
      this.spent(account, projects),
    ]);
    return projects.map((project) => ({
      object: 'project',
      id: project.id,
      name: project.name,
      is_default: project.isDefault,
      budget: budgetJson(project.budget),
      requests_per_minute: project.limits.requestsPerMinute,
      tokens_per_minute: project.limits.tokensPerMinute,
      trust: project.trust.map(trustJson),
      keys: counts.get(project.id) ?? 0,
      spent_usd: usdText(spent.get(project.id) ?? 0n),
      created_at: new Date(project.createdAt).toISOString(),
    }));
  }

  /** What was spent through the keys of each project in its current period; without a budget, this month. */
  private async spent(account: Account, projects: readonly Project[]): Promise<Map<string, bigint>> {
    const { directory, journal, store, clock } = this.deps;
    await journal.settled(settledWaitMs);
    const keys = await directory.keys(account.id);
    const now = clock.now();
    const spent = new Map<string, bigint>();
    const startOf = ({ budget }: Project) => periodStart(budget?.period ?? 'monthly', now);
    for (const start of new Set(projects.map(startOf))) {
      const byKey =
        start === null
          ? new Map([...(await directory.keyFigures(account.id))].map(([id, { usagePico }]) => [id, usagePico]))
          : await store.usage.spentSince(account.id, start);
      const counted = new Set(projects.filter((project) => startOf(project) === start).map(({ id }) => id));
      for (const key of keys) {
        const id = keyProjectId(key);
        if (id !== null && counted.has(id)) spent.set(id, (spent.get(id) ?? 0n) + (byKey.get(key.id) ?? 0n));
      }
    }
    return spent;
  }
}

/** A project that the caller does not reach is as one that does not exist. */
export function projectNamed(account: Account, id: string, reach: Project | null = null): Project {
  const project = account.projects.get(id);
  if (!project || (reach !== null && reach !== project)) throw noSuchProject(id);
  return project;
}
