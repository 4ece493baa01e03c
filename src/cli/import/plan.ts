/** What an import will do: files to write and objects to make. It is complete before anything is changed. */
import type { BudgetPeriod } from '../../domain/organisation.js';

export interface NamePlan {
  model: string;
  fallback?: { models: string[] };
  provider?: Record<string, unknown>;
  defaults?: Record<string, unknown>;
  note?: string;
}

/** The settings of a provider, as the configuration has them. */
export interface ProviderPlan {
  api_key?: string;
  base_url?: string;
  keys?: { name: string; api_key: string; weight?: number; models?: string[] }[];
}

export interface BudgetPlan {
  readonly limit_usd: string;
  readonly period: BudgetPeriod;
  readonly alert_at?: readonly number[];
}

export interface AccountPlan {
  /** The source's own id; null for what belongs to none. */
  readonly id: string | null;
  readonly alias: string;
  readonly budget: BudgetPlan | null;
  readonly openingUsd: string;
}

export interface ProjectPlan {
  readonly id: string;
  readonly account: string | null;
  readonly name: string;
  readonly budget: BudgetPlan | null;
  readonly openingUsd: string;
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
}

export interface PersonPlan {
  readonly id: string;
  readonly email: string;
  /** One for each account that the person is in. */
  readonly memberships: { account: string | null; role: string; projects: string[] | null }[];
}

export interface KeyPlan {
  /** What tells it from others in the source, which is no secret. */
  readonly id: string;
  readonly account: string | null;
  readonly project: string | null;
  readonly holder: string | null;
  readonly name: string;
  readonly sha256: string;
  readonly lastFour: string | null;
  readonly expiresAt: string | null;
  readonly disabled: boolean;
  readonly limitUsd: string | null;
  readonly limitReset: BudgetPeriod;
  readonly openingUsd: string;
  readonly allowedModels: string[] | null;
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
}

/** The limits of an account, which no key of it is above. */
export interface RateBounds {
  readonly requestsPerMinute: number;
  readonly tokensPerMinute: number;
}

export class Plan {
  readonly providers = new Map<string, ProviderPlan>();
  /** Entries of an own catalogue file. */
  readonly catalogue: { providers: OwnProvider[]; models: OwnModel[]; routes: OwnRoute[] } = {
    providers: [],
    models: [],
    routes: [],
  };
  readonly names = new Map<string, NamePlan>();
  /** Names by the access group that their entries are in, which keys can be limited to. */
  readonly accessGroups = new Map<string, Set<string>>();
  /** Literal secrets, by the variable that stands for each. */
  readonly secrets = new Map<string, string>();
  /** Variables that the source names, whose values a literal secret must not replace. */
  private readonly variables = new Set<string>();
  readonly accounts: AccountPlan[] = [];
  readonly projects: ProjectPlan[] = [];
  readonly people: PersonPlan[] = [];
  readonly keys: KeyPlan[] = [];

  constructor(
    readonly system: 'litellm' | 'bifrost' | 'portkey',
    /** The limits of the accounts, which no key is above. */
    readonly keyBounds: RateBounds = { requestsPerMinute: 600, tokensPerMinute: 1_000_000 },
  ) {}

  /** Notes the variables that a text of the source names, before a literal secret gets a name of its own. */
  noteVariables(text: string): void {
    for (const [, name] of text.matchAll(/(?:os\.environ\/|\benv\.|"env_var"\s*:\s*")([A-Za-z_][A-Za-z0-9_]*)/g))
      this.variables.add(name!);
  }

  isVariable(name: string): boolean {
    return this.variables.has(name);
  }

  /** A reference to a secret: `os.environ/NAME` and `env.NAME` keep their variable, a literal gets one of its own. */
  secretReference(value: string, variable: string): string {
    const named = variableOf(value);
    if (named !== null) return `\${${named}}`;
    const base = variable.toUpperCase().replace(/[^A-Z0-9]+/g, '_');
    for (let n = 1; ; n++) {
      const name = n === 1 ? base : `${base}_${n}`;
      const known = this.secrets.get(name);
      if (known === undefined ? this.isVariable(name) : known !== value) continue;
      this.secrets.set(name, value);
      return `\${${name}}`;
    }
  }

  /** Whether a reference means this secret. */
  standsFor(reference: string, value: string): boolean {
    const named = variableOf(value);
    return named === null ? this.secrets.get(reference.slice(2, -1)) === value : reference === `\${${named}}`;
  }
}

/** The variable that a value names; null where the value is meant literally. */
export function variableOf(value: string): string | null {
  return /^(?:os\.environ\/|env\.)([A-Za-z_][A-Za-z0-9_]*)$/.exec(value)?.[1] ?? null;
}

interface OwnProvider extends Record<string, unknown> {
  id: string;
  auth?: unknown;
}

export interface OwnRoute extends Record<string, unknown> {
  model?: string;
  provider: string;
  locode: string;
}

interface OwnModel extends Record<string, unknown> {
  creator: string;
  model: string;
  routes: OwnRoute[];
}
