/** Who is in which team and organisation of LiteLLM, and the columns of its rows that have no counterpart. */
import type { LitellmRows } from './litellm-database.js';
import { type ImportReport, noSetting } from './report.js';
import { type Fields, fieldsOf, listOf } from './values.js';

/** A user's row and a team's row both say who is in a team, and one may lack what the other has. */
export function teamsByUser({ users, teams }: LitellmRows): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>(
    users.map((row) => [String(row.user_id), new Set(listOf(row.teams).map(String))]),
  );
  for (const team of teams) {
    const members = listOf(team.members_with_roles).map((member) => fieldsOf(member).user_id);
    for (const user of [...members, ...listOf(team.members), ...listOf(team.admins)]) {
      found.get(String(user))?.add(String(team.team_id));
    }
  }
  return found;
}

export function membersByUser({ organisationMembers }: LitellmRows): Map<string, Fields[]> {
  const found = new Map<string, Fields[]>();
  for (const row of organisationMembers) {
    const list = found.get(String(row.user_id)) ?? [];
    list.push(row);
    found.set(String(row.user_id), list);
  }
  return found;
}

/** Columns that are read, that describe the row, or that LiteLLM keeps for itself. */
const readColumns = new Set([
  ...[
    'token',
    'key_name',
    'key_alias',
    'spend',
    'expires',
    'models',
    'user_id',
    'team_id',
    'organization_id',
    'blocked',
  ],
  ...['max_budget', 'budget_duration', 'budget_reset_at', 'budget_id', 'rpm_limit', 'tpm_limit', 'team_alias'],
  ...['max_parallel_requests', 'organization_alias', 'user_email', 'user_role', 'teams', 'members', 'admins'],
  ...[
    'members_with_roles',
    'user_alias',
    'password',
    'sso_user_id',
    'soft_budget_cooldown',
    'model_spend',
    'created_at',
  ],
  ...['created_by', 'updated_at', 'updated_by', 'last_active', 'rotation_count', 'last_rotation_at', 'key_type'],
  ...['total_spend', 'settings_updated_at', 'password_reset_required', 'last_breach_check_at'],
]);

/** Every other column that has something in it. */
export function reportOthers(report: ImportReport, row: Fields, field: string): void {
  for (const [name, value] of Object.entries(row)) {
    if (readColumns.has(name) || !value) continue;
    if (typeof value === 'object' && Object.keys(value).length === 0) continue;
    if (name === 'metadata') report.changed(`${field}.${name}`, 'left out: a note of LiteLLM’s');
    else report.notTaken(`${field}.${name}`, noSetting);
  }
}
