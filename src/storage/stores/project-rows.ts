/** Reads projects and budgets as the store keeps them: amounts as text, because JSON numbers are not exact. */
import type { Budget, ImportedFrom, Project, TrustEntry } from '../../domain/organisation.js';
import { projectPolicyOfStored } from '../../policy/policy.js';

/** A row of `projects` as PostgreSQL's `to_json` shows it. */
export interface ProjectRow {
  readonly id: string;
  readonly account_id: string;
  readonly name: string;
  readonly is_default: boolean;
  readonly budget: string | null;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly routing_policy: unknown;
  readonly trust: string;
  readonly imported_from: string | null;
  readonly created_at: string;
}

export function projectOf(row: ProjectRow): Project {
  return {
    ...{ id: row.id, accountId: row.account_id, name: row.name, isDefault: row.is_default },
    budget: readBudget(row.budget),
    limits: { requestsPerMinute: row.requests_per_minute, tokensPerMinute: row.tokens_per_minute },
    policy: projectPolicyOfStored(row.routing_policy),
    trust: JSON.parse(row.trust) as TrustEntry[],
    importedFrom: importedFromOf(row.imported_from),
    createdAt: Date.parse(row.created_at),
  };
}

export function importedFromOf(text: string | null): ImportedFrom | null {
  return text === null ? null : (JSON.parse(text) as ImportedFrom);
}

export function budgetText(budget: Budget | null): string | null {
  if (budget === null) return null;
  const { limitPico, opening, ...rest } = budget;
  const begun = opening && { opening: { ...opening, spentPico: opening.spentPico.toString() } };
  return JSON.stringify({ ...rest, limitPico: limitPico.toString(), ...begun });
}

interface StoredBudget extends Pick<Budget, 'period' | 'alertAt'> {
  readonly limitPico: string;
  readonly opening?: { readonly day: number; readonly spentPico: string };
}

export function readBudget(text: string | null): Budget | null {
  if (text === null) return null;
  const { limitPico, period, alertAt, opening } = JSON.parse(text) as StoredBudget;
  const begun = opening && { opening: { ...opening, spentPico: BigInt(opening.spentPico) } };
  return { limitPico: BigInt(limitPico), period, alertAt, ...begun };
}
