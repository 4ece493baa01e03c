/** Makes the accounts, projects, people and keys of a plan by the admin API. What was imported before stays as it is. */
import { defaultProjectId } from '../../domain/organisation.js';
import type { AdminClient } from '../admin-client.js';
import { CommandFailure } from '../io.js';
import { batchesOf, eachAtOnce } from './batches.js';
import { PatientCalls } from './calls.js';
import { checkLoaded } from './check-loaded.js';
import {
  type Imported,
  type ListedAccount,
  type ListedKey,
  type ListedMember,
  type ListedProject,
  sameBudget,
  sameKey,
  sameMember,
  sameProject,
} from './listed.js';
import type { AccountPlan, KeyPlan, PersonPlan, Plan, ProjectPlan } from './plan.js';
import { unusedName } from './shared.js';

export interface ApplyOptions {
  readonly client: AdminClient;
  /** The account that everything goes to that belongs to none. */
  readonly account: { id: string } | { email: string };
  readonly credit: { amountUsd: string } | { limitUsd: string } | null;
}

const kinds = ['accounts', 'projects', 'people', 'keys'] as const;
type Counts = Record<(typeof kinds)[number], number>;

export interface Applied {
  readonly made: Counts;
  /** They were imported before, and stay as they are. */
  readonly there: Counts;
  /** Of these, how many differ from the source by now. */
  readonly differing: Counts;
  /** What the operator should know beside the figures. */
  readonly remarks: string[];
}

/** The account of what belongs to none has no id in the source. */
const ofNone = '*';

export async function applyPlan(plan: Plan, options: ApplyOptions): Promise<Applied> {
  const work = new Application(plan, options);
  await work.prepare();
  try {
    await work.run();
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    const done = kinds.map((what) => `${work.applied.made[what]} ${what}`);
    throw new CommandFailure(
      `${error.message}\nMade so far: ${done.join(', ')}. Run the same command again: it goes on from there.`,
    );
  }
  return work.applied;
}

const noCounts = (): Counts => ({ accounts: 0, projects: 0, people: 0, keys: 0 });
class Application {
  readonly applied: Applied = { made: noCounts(), there: noCounts(), differing: noCounts(), remarks: [] };
  private known: ListedAccount[] = [];
  /** Ids here, by those of the source. */
  private readonly accounts = new Map<string | null, string>();
  private readonly projects = new Map<string, string>();
  /** By account and person of the source. */
  private readonly people = new Map<string, string>();

  constructor(
    private readonly plan: Plan,
    private readonly options: ApplyOptions,
    private readonly calls = new PatientCalls(options.client),
  ) {}

  /** Looks for what would end the work half-way. Changes nothing. */
  async prepare(): Promise<void> {
    this.applied.remarks.push(...(await checkLoaded(this.calls, this.plan)));
    this.known = await this.calls.all<ListedAccount>('/accounts');
    const { account } = this.options;
    if ('id' in account && !this.baseAccount())
      throw new CommandFailure(`There is no account "${account.id}". "lodestone account list" shows them.`);
    const taken = this.plan.accounts.find((planned) => {
      const there = this.known.find(({ email }) => email === this.emailOf(planned));
      return there && !this.isSame(there, planned.id);
    });
    if (taken) {
      throw new CommandFailure(
        `The account of "${taken.alias}" would be ${this.emailOf(taken)}, which another account has. Give another address with --new-account. Nothing was changed.`,
      );
    }
  }

  async run(): Promise<void> {
    await this.addBase();
    for (const planned of this.plan.accounts) await this.addAccount(planned);
    for (const [source, id] of this.accounts) await this.addProjects(source, id);
    for (const [source, id] of this.accounts) await this.addPeople(source, id);
    for (const [source, id] of this.accounts) await this.addKeys(source, id);
  }

  private baseAccount(): ListedAccount | undefined {
    const { account } = this.options;
    const stated = 'id' in account ? account.id : account.email;
    return this.known.find(({ id, email }) => id === stated || email === stated.toLowerCase());
  }

  private emailOf({ alias }: Pick<AccountPlan, 'alias'>): string {
    const { account } = this.options;
    const base = 'email' in account ? account.email : this.baseAccount()!.email;
    return alias === '' ? base : base.replace('@', `+${alias}@`);
  }

  private async addBase(): Promise<void> {
    const there = this.baseAccount();
    if (!there || this.isSame(there, ofNone))
      return this.addAccount({ id: null, alias: '', budget: null, openingUsd: '0' }, there);
    this.applied.there.accounts++;
    this.accounts.set(null, there.id);
    if ('id' in this.options.account) return;
    this.applied.remarks.push(`The account ${there.email} was there already: it got no credit.`);
  }

  private async addAccount(
    planned: AccountPlan,
    there = this.known.find((account) => this.isSame(account, planned.id)),
  ): Promise<void> {
    const { credit } = this.options;
    const { id, alias, budget, openingUsd } = planned;
    if (there) this.note('accounts', !sameBudget(there.budget, budget));
    const { id: made } =
      there ??
      (await this.calls.call<Imported>('POST', '/accounts', {
        email: this.emailOf(planned),
        ...(alias !== '' && { name: alias }),
        ...(budget && { budget, opening_spent_usd: openingUsd }),
        ...(credit && 'limitUsd' in credit && { credit_limit_usd: credit.limitUsd }),
        imported_from: { system: this.plan.system, id: id ?? ofNone },
      }));
    if (!there) this.applied.made.accounts++;
    if (credit && 'amountUsd' in credit && !(there && (await this.hasEntries(made)))) {
      const note = `import from ${this.plan.system}`;
      await this.calls.call('POST', `/accounts/${made}/credits`, { amount_usd: credit.amountUsd, note });
    }
    this.accounts.set(id, made);
  }

  /** An account without any entry never got its credit: the work ended between the two calls. */
  private async hasEntries(accountId: string): Promise<boolean> {
    const { data } = await this.calls.call<{ data: object[] }>('GET', `/accounts/${accountId}/ledger?limit=1`);
    return data.length > 0;
  }

  private async addProjects(source: string | null, accountId: string): Promise<void> {
    const planned = this.plan.projects.filter(({ account }) => account === source);
    if (planned.length === 0) return;
    const listed = await this.calls.all<ListedProject>(`/accounts/${accountId}/projects`, 200);
    const known = this.bySource(listed);
    const names = new Set(listed.map(({ name }) => name));
    for (const project of planned) {
      const there = known.get(project.id);
      if (there) this.note('projects', !sameProject(there, project));
      const { id } = there ?? (await this.addProject(accountId, { ...project, name: unusedName(project.name, names) }));
      this.projects.set(project.id, id);
    }
  }

  private async addProject(accountId: string, project: ProjectPlan): Promise<Imported> {
    const { id, name, budget, openingUsd, requestsPerMinute, tokensPerMinute } = project;
    const made = await this.calls.call<Imported>('POST', `/accounts/${accountId}/projects`, {
      name,
      ...(budget && { budget, opening_spent_usd: openingUsd }),
      ...(requestsPerMinute !== null && { requests_per_minute: requestsPerMinute }),
      ...(tokensPerMinute !== null && { tokens_per_minute: tokensPerMinute }),
      imported_from: { system: this.plan.system, id },
    });
    this.applied.made.projects++;
    return made;
  }

  private async addPeople(source: string | null, accountId: string): Promise<void> {
    const planned = this.plan.people.filter(({ memberships }) => memberships.some(({ account }) => account === source));
    if (planned.length === 0) return;
    const listed = await this.calls.all<ListedMember>(`/accounts/${accountId}/members`, 200);
    const known = new Map(listed.map((member) => [member.email, member]));
    await eachAtOnce(planned, async (person) => {
      const { role, projects } = this.membershipOf(person, source);
      const there = known.get(person.email);
      if (there) this.note('people', !sameMember(there, role, projects));
      const { id } = there ?? (await this.addPerson(source, accountId, person));
      this.people.set(placeOf(source, person.id), id);
    });
  }

  private async addPerson(source: string | null, accountId: string, person: PersonPlan): Promise<Imported> {
    const made = await this.calls.call<Imported>('POST', `/accounts/${accountId}/members`, {
      ...{ email: person.email, ...this.membershipOf(person, source) },
      imported_from: { system: this.plan.system, id: person.id },
    });
    this.applied.made.people++;
    return made;
  }

  private membershipOf({ memberships }: PersonPlan, source: string | null) {
    const { role, projects } = memberships.find(({ account }) => account === source)!;
    return { role, projects: projects?.map((project) => this.projects.get(project)!) ?? null };
  }

  private async addKeys(source: string | null, accountId: string): Promise<void> {
    const planned = this.plan.keys.filter(({ account }) => account === source);
    if (planned.length === 0) return;
    const known = this.bySource(await this.calls.all<ListedKey>(`/accounts/${accountId}/keys`, 1000));
    const elsewhere: string[] = [];
    const missing: ReturnType<Application['keyFields']>[] = [];
    for (const key of planned) {
      const there = known.get(key.id);
      const fields = this.keyFields(key);
      const { project = defaultProjectId(accountId), holder = null } = fields;
      if (there) this.note('keys', !sameKey(there, key, { project, holder }));
      else missing.push(fields);
    }
    await eachAtOnce(batchesOf(missing), async (batch) => {
      const path = `/accounts/${accountId}/imported-keys`;
      const { data } = await this.calls.call<{ data: { status: string }[] }>('POST', path, { keys: batch });
      for (const [index, { status }] of data.entries()) {
        if (status === 'created') this.applied.made.keys++;
        else elsewhere.push(batch[index]!.name);
      }
    });
    if (elsewhere.length === 0) return;
    const reason = `because another key has their token already, such as "${elsewhere[0]}"`;
    this.applied.remarks.push(`${elsewhere.length} keys stay where they are, ${reason}.`);
  }

  private keyFields(key: KeyPlan) {
    return {
      name: key.name,
      token_sha256: key.sha256,
      ...(key.lastFour !== null && { last_four: key.lastFour }),
      imported_from: { system: this.plan.system, id: key.id },
      ...(key.openingUsd !== '0' && { opening_usage_usd: key.openingUsd }),
      ...(key.limitUsd !== null && { limit_usd: key.limitUsd, limit_reset: key.limitReset }),
      ...(key.allowedModels !== null && { allowed_models: key.allowedModels }),
      ...(key.requestsPerMinute !== null && { requests_per_minute: key.requestsPerMinute }),
      ...(key.tokensPerMinute !== null && { tokens_per_minute: key.tokensPerMinute }),
      ...(key.project !== null && { project: this.projects.get(key.project)! }),
      ...(key.holder !== null && { holder: this.people.get(placeOf(key.account, key.holder))! }),
      expires: key.expiresAt ?? 'never',
      ...(key.disabled && { disabled: true }),
    };
  }

  private note(what: (typeof kinds)[number], isDifferent: boolean): void {
    this.applied.there[what]++;
    if (isDifferent) this.applied.differing[what]++;
  }

  private isSame({ imported_from: from }: Imported, id: string | null): boolean {
    return from?.system === this.plan.system && from.id === id;
  }

  private bySource<T extends Imported>(listed: readonly T[]): Map<string, T> {
    return new Map(
      listed.flatMap((each) =>
        each.imported_from?.system === this.plan.system ? [[each.imported_from.id, each] as const] : [],
      ),
    );
  }
}

const placeOf = (account: string | null, person: string) => JSON.stringify([account, person]);
