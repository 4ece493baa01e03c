/** Who is in which team and organisation of LiteLLM, and the columns of its rows that have no counterpart. */
import type { LitellmRows } from './litellm-database.js';
import { type ImportReport, noSetting } from './report.js';
import { type Fields, fieldsOf, listOf, textOf } from './values.js';

/** A user's row and a team's row both say who is in a team, and one may lack what the other has. */
export function teamsByUser({ users, teams, teamMembers }: LitellmRows): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>(
    users.map((row) => [String(row.user_id), new Set(listOf(row.teams).map(String))]),
  );
  for (const team of teams) {
    const members = listOf(team.members_with_roles).map((member) => fieldsOf(member).user_id);
    for (const user of [...members, ...listOf(team.members), ...listOf(team.admins)]) {
      found.get(String(user))?.add(String(team.team_id));
    }
  }
  for (const { user_id, team_id } of teamMembers) found.get(String(user_id))?.add(String(team_id));
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

/** Columns that become a part of what the row becomes, in words for the line of the row. */
const partColumns = [
  ...['organization_id', 'team_id', 'user_id', 'budget_id', 'models', 'spend', 'max_budget', 'budget_duration'],
  ...['rpm_limit', 'tpm_limit', 'expires', 'blocked'],
];

/** The words with the columns of the row that were taken. */
export function taken(row: Fields, words: string): string {
  const names = partColumns.filter((name) => hasContent(row[name]));
  return names.length === 0 ? words : `${words}, with ${names.join(', ')}`;
}

const hasContent = (value: unknown) =>
  Boolean(value) && !(typeof value === 'object' && Object.keys(value!).length === 0);

/** `all-team-models` and the like stand for everything. */
export const isEverything = (model: string) => /^all-(team|proxy|org)-models$|^\*$/.test(model);

export function reportModels(report: ImportReport, row: Fields, field: string): void {
  const models = listOf(row.models).map(String);
  if (models.length > 0 && !models.some(isEverything))
    report.notTaken(`${field}.models`, 'only keys are limited to models: limit its keys');
}

/** Budgets are rows of their own, which others name. */
export function reportBudgets(report: ImportReport, { budgets, keys, organisations }: LitellmRows): void {
  const named = new Set([...keys, ...organisations].map((row) => row.budget_id));
  for (const [index, row] of budgets.entries()) {
    const field = `database LiteLLM_BudgetTable[${index}]`;
    if (named.has(row.budget_id)) report.taken(field, taken({ ...row, budget_id: null }, 'with what names it'));
    else report.changed(field, 'left out: no key and no organisation has it');
    if (named.has(row.budget_id)) reportOthers(report, row, field);
  }
}

/** What a person has in a team or an organisation beside the place in it. */
export function reportMemberships(report: ImportReport, { teamMembers, organisationMembers }: LitellmRows): void {
  const tables = { LiteLLM_OrganizationMembership: organisationMembers, LiteLLM_TeamMembership: teamMembers };
  for (const [table, rows] of Object.entries(tables)) {
    for (const [index, row] of rows.entries()) {
      const field = `database ${table}[${index}]`;
      report.taken(field, 'with its person');
      if (textOf(row.budget_id) !== null)
        report.notTaken(`${field}.budget_id`, 'people have no budget: give their keys or their project one');
    }
  }
}

/** Limits of a person, which only keys and projects have. */
export function reportUserLimits(report: ImportReport, row: Fields, field: string): void {
  if (row.max_budget != null)
    report.notTaken(`${field}.max_budget`, 'people have no budget: give their keys or their project one');
  for (const name of ['rpm_limit', 'tpm_limit', 'max_parallel_requests']) {
    if (row[name] != null)
      report.notTaken(`${field}.${name}`, 'people have no limits a minute: give their keys or their project one');
  }
  const models = listOf(row.models).map(String);
  if (models.length > 0 && !models.some(isEverything))
    report.changed(`${field}.models`, 'a person is not limited to models: the keys without a team are');
}

/** Every other column that has something in it. */
export function reportOthers(report: ImportReport, row: Fields, field: string): void {
  for (const [name, value] of Object.entries(row)) {
    if (readColumns.has(name) || !hasContent(value)) continue;
    if (name === 'metadata') report.changed(`${field}.${name}`, 'left out: a note of LiteLLM’s');
    else report.notTaken(`${field}.${name}`, noSetting);
  }
}
