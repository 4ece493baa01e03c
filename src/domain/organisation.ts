/** People, their roles in accounts, and the projects of an account with their budgets. */
import { canonicalDigest } from '../base/canonical-json.js';
import type { ProjectPolicy } from '../policy/routing-policy.js';

/** From the one who may do everything to the one who may change nothing. */
export const roles = ['owner', 'admin', 'billing', 'developer', 'auditor'] as const;
export type Role = (typeof roles)[number];

/** Begins anew at 00:00 UTC: never, each day, each Monday, each first of a month. */
export const budgetPeriods = ['never', 'daily', 'weekly', 'monthly'] as const;
export type BudgetPeriod = (typeof budgetPeriods)[number];

/** How much an account or a project may spend in a period. */
export interface Budget {
  readonly limitPico: bigint;
  readonly period: BudgetPeriod;
  /** Parts of the limit at which a notice is sent, such as 0.8. */
  readonly alertAt: readonly number[];
  /** What counts as spent in the period of a UTC day although no request here has cost it, such as at the system used before. */
  readonly opening?: { readonly day: number; readonly spentPico: bigint };
}

/** What has a budget: an account, or one of its projects. */
export interface BudgetNode {
  readonly accountId: string;
  /** null for the account itself. */
  readonly projectId: string | null;
}

/** An issuer of tokens whose workloads may get keys of a project. */
export interface TrustEntry {
  readonly issuer: string;
  readonly subject: string;
  readonly audience: string | null;
  readonly claims: Readonly<Record<string, string>>;
  readonly allowedModels: readonly string[] | null;
  readonly allowedProviders: readonly string[] | null;
}

const entryIds = new WeakMap<TrustEntry, string>();

/** Names an entry by all that it says, so that a changed one is another one. */
export function trustEntryId(entry: TrustEntry): string {
  let id = entryIds.get(entry);
  if (id === undefined) {
    id = canonicalDigest(entry);
    entryIds.set(entry, id);
  }
  return id;
}

/** Where something was brought along from another system. */
export interface ImportedFrom {
  readonly system: string;
  readonly id: string;
}

/** One object for each project in memory, shared by its keys, as the account is. Mutable on purpose. */
export interface Project {
  readonly id: string;
  readonly accountId: string;
  name: string;
  readonly isDefault: boolean;
  budget: Budget | null;
  limits: { requestsPerMinute: number | null; tokensPerMinute: number | null };
  /** null where the account's alone holds. It only narrows. */
  policy: ProjectPolicy | null;
  trust: readonly TrustEntry[];
  readonly importedFrom: ImportedFrom | null;
  readonly createdAt: number;
}

/** The id of the project that every account has. */
export function defaultProjectId(accountId: string): string {
  return `proj-${accountId.replace(/^acct-/, '')}`;
}

/** A role of a person in an account, by hand (`manual`) or by a group of an identity provider (`oidc:corp`). */
export interface Membership {
  readonly accountId: string;
  readonly personId: string;
  readonly source: string;
  readonly role: Role;
  /** Ids; null for all projects. */
  readonly projects: readonly string[] | null;
  readonly createdAt: number;
  readonly lastSeenAt: number | null;
}

/** The id of a person as others see it. Who came with an account has the account's id in the store. */
export function shownPersonId(storedId: string): string {
  return storedId.replace(/^acct-/, 'per-');
}
