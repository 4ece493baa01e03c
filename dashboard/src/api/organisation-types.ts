/** The shapes of projects, members, budgets and the audit of an account. */
import type { Role } from './types.js';

export type BudgetPeriod = 'never' | 'daily' | 'weekly' | 'monthly';

export interface Budget {
  limit_usd: string;
  period: BudgetPeriod;
  /** Parts of the limit, such as 0.8. */
  alert_at: number[];
}

export interface TrustEntry {
  issuer: string;
  subject: string;
  audience: string | null;
  claims: Record<string, string>;
  allowed_models: string[] | null;
  allowed_providers: string[] | null;
}

export interface ProjectName {
  id: string;
  name: string;
  is_default: boolean;
}

export interface Project extends ProjectName {
  budget: Budget | null;
  requests_per_minute: number | null;
  tokens_per_minute: number | null;
  trust: TrustEntry[];
  /** How many it has. */
  keys: number;
  /** In the period of its budget, else this month. */
  spent_usd: string;
  created_at: string;
}

export interface Member {
  id: string;
  email: string;
  name: string | null;
  role: Role;
  /** null for all. */
  projects: string[] | null;
  /** `manual`, or the identity provider that gave the role, like `oidc:corp`. */
  source: string;
  roles: { role: Role; source: string }[];
  created_at: string;
  last_seen_at: string | null;
}

export interface Invitation {
  id: string;
  email: string;
  role: Role;
  projects: string[] | null;
  status: 'pending' | 'accepted' | 'expired';
  created_at: string;
  expires_at: string;
}

export interface NewInvitation extends Invitation {
  mailed: boolean;
  /** Shown once where it was not mailed. */
  url: string | null;
}

export interface AccountSettings {
  name: string | null;
  settings_by_keys: boolean;
  record_end_users: boolean;
  budget: Budget | null;
}

interface Allowance {
  limit_usd: string | null;
  period: BudgetPeriod;
  spent_usd: string;
  held_usd: string;
  remaining_usd: string | null;
  ends_at: string | null;
}

export interface BudgetState {
  project: Allowance;
  account: Allowance;
}

export interface AuditEntry {
  id: string;
  seq: number;
  created_at: string;
  actor: string;
  by: string | null;
  actor_name: string | null;
  action: string;
  subject: string;
  subject_name: string | null;
  address: string | null;
  details: Record<string, unknown>;
}
