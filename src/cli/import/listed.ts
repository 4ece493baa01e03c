/** What the admin API lists of earlier imports, and whether it is as the source has it. */
import { isDeepStrictEqual } from 'node:util';
import type { BudgetPlan, KeyPlan, NamePlan, ProjectPlan } from './plan.js';

export interface Imported {
  readonly id: string;
  /** Only what was imported has it. */
  readonly imported_from?: { system: string; id: string } | null;
}

export interface ListedAccount extends Imported {
  readonly email: string;
  readonly credit_limit_usd: string;
  readonly budget: BudgetPlan | null;
}

export interface ListedProject extends Imported {
  readonly name: string;
  readonly budget: BudgetPlan | null;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
}

export interface ListedName extends Imported {
  readonly name: string;
  readonly model: string;
  readonly fallback: { models: string[] } | null;
  readonly provider: Record<string, unknown> | null;
  readonly defaults: Record<string, unknown> | null;
}

export interface ListedRoute extends Imported {
  readonly provider: string;
  readonly configured: boolean;
  /** Where the provider has several. */
  readonly keys?: readonly { name: string }[];
}

export interface ListedMember extends Imported {
  readonly email: string;
  readonly role: string;
  readonly projects: readonly string[] | null;
}

export interface ListedKey extends Imported {
  readonly name: string;
  readonly last_four: string;
  readonly expires_at: string | null;
  readonly project: string | null;
  readonly holder: string | null;
  readonly disabled: boolean;
  readonly limit_usd: string | null;
  readonly limit_reset: string;
  readonly allowed_models: string[] | null;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
}

/** A file of an earlier run may be loaded, with the same targets and other settings. */
export function sameName(there: ListedName | undefined, planned: NamePlan): boolean {
  if (!there) return false;
  const { model, fallback = null, provider = null, defaults = null } = planned;
  return isDeepStrictEqual(
    [there.model, there.fallback, there.provider, there.defaults],
    [model, fallback, provider, defaults],
  );
}

export function sameBudget(there: BudgetPlan | null, planned: BudgetPlan | null): boolean {
  return there?.limit_usd === planned?.limit_usd && there?.period === planned?.period;
}

export function sameProject(
  there: ListedProject,
  { budget, requestsPerMinute, tokensPerMinute }: ProjectPlan,
): boolean {
  if (there.requests_per_minute !== requestsPerMinute || there.tokens_per_minute !== tokensPerMinute) return false;
  return sameBudget(there.budget, budget);
}

export function sameMember(there: ListedMember, role: string, projects: readonly string[] | null): boolean {
  const sorted = (ids: readonly string[] | null) => ids && [...ids].sort();
  return there.role === role && isDeepStrictEqual(sorted(there.projects), sorted(projects));
}

/** `place` is where the key belongs here. */
export function sameKey(there: ListedKey, key: KeyPlan, place: { project: string; holder: string | null }): boolean {
  const { name, disabled, limitUsd, limitReset, allowedModels, requestsPerMinute, tokensPerMinute } = key;
  if (there.project !== place.project || there.holder !== place.holder) return false;
  // Another token cannot be told in every case: the gateway shows no hash.
  if (key.lastFour !== null && there.last_four !== key.lastFour) return false;
  const ends = [there.expires_at, key.expiresAt].map((time) => time && Date.parse(time));
  if (ends[0] !== ends[1]) return false;
  const planned = [name, disabled, limitUsd, limitUsd === null ? 'never' : limitReset, allowedModels?.join(' ')];
  const found = [there.name, there.disabled, there.limit_usd, there.limit_reset, there.allowed_models?.join(' ')];
  const rates = there.requests_per_minute === requestsPerMinute && there.tokens_per_minute === tokensPerMinute;
  return rates && planned.every((value, index) => value === found[index]);
}
