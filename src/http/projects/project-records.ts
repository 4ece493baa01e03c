/** The projects of an account as `/v1/projects`, the dashboard and the admin API show and change them. */
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { Actor } from '../../accounts/audit.js';
import { dayMs, periodStart } from '../../accounts/keys/limit-period.js';
import { noSuchProject } from '../../accounts/projects/projects.js';
import { usdText } from '../../base/money.js';
import type { Account } from '../../domain/account.js';
import type { Project } from '../../domain/organisation.js';
import { isOperators } from '../admin/fields.js';
import { settledWaitMs } from '../api/generations.js';
import type { HttpDeps } from '../deps.js';
import { budgetJson, changedBudget, type SentBudget } from '../keys/budget-fields.js';
import { pageOf } from '../query.js';
import {
  checkTrust,
  importedProjectChange,
  newImportedProject,
  newProject,
  projectChange,
  projectChangeOf,
  settingsFields,
  trustJson,
} from './project-fields.js';

export class ProjectRecords {
  constructor(private readonly deps: HttpDeps) {}

  /** The default project first, then the oldest. */
  async list(request: FastifyRequest, account: Account, isReached: (project: Project) => boolean = () => true) {
    const all = [...account.projects.values()].filter(isReached);
    return { object: 'list', data: await this.shown(account, pageOf(request, all, 'project')) };
  }

  async one(account: Account, project: Project) {
    return (await this.shown(account, [project]))[0]!;
  }

  /** The body is checked before the account is looked up. */
  async create(request: FastifyRequest, actor: Actor, accountOf: () => Promise<Account>) {
    const { name, imported_from, ...fields }: z.infer<typeof newImportedProject> = isOperators(request)
      ? settingsFields(request, newImportedProject)
      : settingsFields(request, newProject);
    const budget = changedBudget(fields, null, this.deps.clock.now());
    this.checkTrust(request, fields);
    const account = await accountOf();
    const made = { name, ...(budget && { budget }), ...(imported_from && { importedFrom: imported_from }) };
    const project = await this.deps.directory.projects.create(actor, account, { ...projectChangeOf(fields), ...made });
    return this.one(account, project);
  }

  async update(request: FastifyRequest, actor: Actor, account: Account, project: Project) {
    const fields = settingsFields(request, isOperators(request) ? importedProjectChange : projectChange);
    this.checkTrust(request, fields);
    const change = projectChangeOf(fields);
    // Before the budget, because a taken name is a refusal, which changes nothing.
    if (Object.keys(change).length > 0) await this.deps.directory.projects.update(actor, account, project, change);
    await this.setBudget(actor, account, project, fields);
    return this.one(account, project);
  }

  private checkTrust(request: FastifyRequest, fields: Parameters<typeof checkTrust>[1]): void {
    const { exchange, names } = this.deps;
    checkTrust(request, fields, { allows: (issuer) => exchange.allows(issuer), names });
  }

  private async setBudget(actor: Actor, account: Account, project: Project, sent: SentBudget): Promise<void> {
    const { directory, journal, clock } = this.deps;
    const budget = changedBudget(sent, project.budget, clock.now());
    if (budget === undefined) return;
    await journal.settled(settledWaitMs);
    await directory.setBudget(actor, { account, project, budget });
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
      ...(project.importedFrom && { imported_from: project.importedFrom }),
      created_at: new Date(project.createdAt).toISOString(),
    }));
  }

  /** What each project has spent in its current period; without a budget, this month. */
  private async spent(account: Account, projects: readonly Project[]): Promise<Map<string, bigint>> {
    const { journal, store, clock } = this.deps;
    await journal.settled(settledWaitMs);
    const now = clock.now();
    const startOf = ({ budget }: Project) => periodStart(budget?.period ?? 'monthly', now) ?? 0;
    const spent = new Map<string, bigint>();
    for (const start of new Set(projects.map(startOf))) {
      const since = await store.budgets.spentOfProjects(account.id, start);
      for (const project of projects) {
        if (startOf(project) === start)
          spent.set(project.id, (since.get(project.id) ?? 0n) + openingOf(project, start));
      }
    }
    return spent;
  }
}

/** What was spent elsewhere counts in the period in which an operator said so. */
function openingOf({ budget }: Project, startMs: number): bigint {
  const { opening } = budget ?? {};
  return opening && opening.day * dayMs >= startMs ? opening.spentPico : 0n;
}

/** A project that the caller does not reach is as one that does not exist. */
export function projectNamed(account: Account, id: string, reach: Project | null = null): Project {
  const project = account.projects.get(id);
  if (!project || (reach !== null && reach !== project)) throw noSuchProject(id);
  return project;
}
