/** Makes the accounts, projects, people and keys of a plan by the admin API. What was imported before stays as it is. */
import type { AdminClient } from '../admin-client.js';
import { CommandFailure } from '../io.js';
import type { AccountPlan, KeyPlan, Plan } from './plan.js';

export interface ApplyOptions {
  readonly client: AdminClient;
  /** The account that everything goes to that belongs to none. */
  readonly account: { id: string } | { email: string };
  readonly credit: { amountUsd: string } | { limitUsd: string } | null;
}

export interface Applied {
  readonly made: Record<'accounts' | 'projects' | 'people' | 'keys', number>;
  readonly there: Record<'accounts' | 'projects' | 'people' | 'keys', number>;
}

interface Listed {
  id: string;
  email?: string;
  name?: string;
  imported_from?: { system: string; id: string } | null;
}

const atOnce = 8;
const pageLimit = 200;

export async function applyPlan(plan: Plan, options: ApplyOptions): Promise<Applied> {
  const work = new Application(plan, options);
  try {
    await work.checkFiles();
    await work.run();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { made } = work.applied;
    const done = Object.entries(made).map(([what, count]) => `${count} ${what}`);
    throw new CommandFailure(
      `${error.message}\nMade so far: ${done.join(', ')}. Run the same command again: it goes on from there.`,
    );
  }
  return work.applied;
}

class Application {
  readonly applied: Applied = {
    made: { accounts: 0, projects: 0, people: 0, keys: 0 },
    there: { accounts: 0, projects: 0, people: 0, keys: 0 },
  };
  private readonly accountIds = new Map<string | null, string>();
  private readonly projectIds = new Map<string, string>();
  private readonly personIds = new Map<string, string>();

  constructor(
    private readonly plan: Plan,
    private readonly options: ApplyOptions,
  ) {}

  /** Names that the gateway does not have would make keys useless that are limited to them. */
  async checkFiles(): Promise<void> {
    if (this.plan.names.size === 0) return;
    const loaded = new Map(
      (await this.all<{ name: string; model: string }>('/names')).map(({ name, model }) => [name, model]),
    );
    const missing = [...this.plan.names]
      .filter(([name, { model }]) => loaded.get(name) !== model)
      .map(([name]) => name);
    if (missing.length === 0) return;
    throw new CommandFailure(
      `The running gateway does not have ${missing.length} of ${this.plan.names.size} names of this import, such as "${missing[0]}". ` +
        'Take the written files into its configuration, reload it, and run this again. Nothing was changed.',
    );
  }

  async run(): Promise<void> {
    await this.addAccounts();
    await this.addProjects();
    await this.addPeople();
    await this.addKeys();
  }

  private async addAccounts(): Promise<void> {
    const { account } = this.options;
    const known = await this.all<Listed>('/accounts');
    const base =
      'id' in account ? known.find(({ id }) => id === account.id) : known.find(({ email }) => email === account.email);
    if ('id' in account && !base) throw new CommandFailure(`There is no account "${account.id}".`);
    this.accountIds.set(
      null,
      base?.id ?? (await this.addAccount({ id: null, alias: '', budget: null, openingUsd: '0' })),
    );
    if (base) this.applied.there.accounts++;
    for (const planned of this.plan.accounts) {
      const there = known.find(({ imported_from: from }) => this.isSame(from, planned.id!));
      if (there) this.applied.there.accounts++;
      this.accountIds.set(planned.id, there?.id ?? (await this.addAccount(planned)));
    }
  }

  private async addAccount({ id, alias, budget, openingUsd }: AccountPlan): Promise<string> {
    const { client, account, credit } = this.options;
    const email = 'email' in account ? account.email : (await client.findAccount(account.id)).email;
    const own = id === null ? email : email.replace('@', `+${alias}@`);
    const made = await client.call<Listed>('POST', '/accounts', {
      email: own,
      ...(alias !== '' && { name: alias }),
      ...(id !== null && { imported_from: { system: this.plan.system, id } }),
    });
    if (credit && 'amountUsd' in credit) {
      await client.call('POST', `/accounts/${made.id}/credits`, {
        amount_usd: credit.amountUsd,
        note: `import from ${this.plan.system}`,
      });
    }
    const change = {
      ...(credit && 'limitUsd' in credit && { credit_limit_usd: credit.limitUsd }),
      ...(budget && { budget, opening_spent_usd: openingUsd }),
    };
    if (Object.keys(change).length > 0) await client.call('PATCH', `/accounts/${made.id}`, change);
    this.applied.made.accounts++;
    return made.id;
  }

  private async addProjects(): Promise<void> {
    for (const [source, accountId] of this.accountIds) {
      const planned = this.plan.projects.filter(({ account }) => account === source);
      if (planned.length === 0) continue;
      const known = await this.all<Listed>(`/accounts/${accountId}/projects`);
      for (const { id, name, budget, openingUsd, requestsPerMinute, tokensPerMinute } of planned) {
        const there = known.find(({ imported_from: from }) => this.isSame(from, id));
        if (there) this.applied.there.projects++;
        const made =
          there ??
          (await this.options.client.call<Listed>('POST', `/accounts/${accountId}/projects`, {
            name,
            ...(budget && { budget, opening_spent_usd: openingUsd }),
            ...(requestsPerMinute !== null && { requests_per_minute: requestsPerMinute }),
            ...(tokensPerMinute !== null && { tokens_per_minute: tokensPerMinute }),
            imported_from: { system: this.plan.system, id },
          }));
        if (!there) this.applied.made.projects++;
        this.projectIds.set(id, made.id);
      }
    }
  }

  private async addPeople(): Promise<void> {
    for (const [source, accountId] of this.accountIds) {
      const planned = this.plan.people.filter(({ memberships }) =>
        memberships.some(({ account }) => account === source),
      );
      if (planned.length === 0) continue;
      const known = await this.all<Listed>(`/accounts/${accountId}/members`);
      for (const { id, email, memberships } of planned) {
        const there = known.find((member) => member.email === email);
        const { role, projects } = memberships.find(({ account }) => account === source)!;
        const made =
          there ??
          (await this.options.client.call<Listed>('POST', `/accounts/${accountId}/members`, {
            email,
            role,
            projects: projects?.map((project) => this.projectIds.get(project)!) ?? null,
            imported_from: { system: this.plan.system, id },
          }));
        if (there) this.applied.there.people++;
        else this.applied.made.people++;
        this.personIds.set(id, made.id);
      }
    }
  }

  private async addKeys(): Promise<void> {
    for (const [source, accountId] of this.accountIds) {
      const planned = this.plan.keys.filter(
        ({ account }) => (this.accountIds.has(account) ? account : null) === source,
      );
      if (planned.length === 0) continue;
      const known = new Set(
        (await this.all<Listed>(`/accounts/${accountId}/keys`)).map(({ imported_from: from }) => from?.id),
      );
      const missing = planned.filter(({ id }) => !known.has(id));
      this.applied.there.keys += planned.length - missing.length;
      const next = missing.values();
      await Promise.all(
        Array.from({ length: atOnce }, async () => {
          for (const key of next) await this.addKey(accountId, key);
        }),
      );
    }
  }

  private async addKey(accountId: string, key: KeyPlan): Promise<void> {
    const { client } = this.options;
    const made = await client.call<Listed>('POST', `/accounts/${accountId}/keys`, {
      name: key.name,
      token_sha256: key.sha256,
      ...(key.lastFour !== null && { last_four: key.lastFour }),
      imported_from: { system: this.plan.system, id: key.id },
      ...(key.openingUsd !== '0' && { opening_usage_usd: key.openingUsd }),
      ...(key.limitUsd !== null && { limit_usd: key.limitUsd, limit_reset: key.limitReset }),
      ...(key.allowedModels !== null && { allowed_models: key.allowedModels }),
      ...(key.requestsPerMinute !== null && { requests_per_minute: key.requestsPerMinute }),
      ...(key.tokensPerMinute !== null && { tokens_per_minute: key.tokensPerMinute }),
      ...(key.project !== null && { project: this.projectIds.get(key.project) }),
      ...(key.holder !== null && this.personIds.has(key.holder) && { holder: this.personIds.get(key.holder) }),
      ...(key.expiresAt !== null && { expires: key.expiresAt }),
    });
    if (key.disabled) await client.call('PATCH', `/accounts/${accountId}/keys/${made.id}`, { disabled: true });
    this.applied.made.keys++;
  }

  private isSame(from: Listed['imported_from'], id: string): boolean {
    return from?.system === this.plan.system && from.id === id;
  }

  /** A whole list, page by page where it has pages. */
  private async all<T extends { id?: string; name?: string }>(path: string): Promise<T[]> {
    const found: T[] = [];
    for (let after = ''; ; ) {
      const page = await this.options.client.call<{ data: T[] }>('GET', `${path}?limit=${pageLimit}${after}`);
      found.push(...page.data);
      const last = page.data.at(-1)?.id ?? page.data.at(-1)?.name;
      if (page.data.length !== pageLimit || last === undefined) return found;
      after = `&after=${encodeURIComponent(last)}`;
    }
  }
}
