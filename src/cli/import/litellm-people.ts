/** Turns LiteLLM's organisations, teams, users and keys into accounts, projects, people and keys. */
import type { LitellmRows } from './litellm-database.js';
import type { AccountPlan, BudgetPlan, KeyPlan, PersonPlan, Plan, ProjectPlan } from './plan.js';
import type { ImportReport } from './report.js';
import { countOf, type Fields, fieldsOf, isCalendarEnd, listOf, periodOf, textOf, usdOf } from './values.js';

const roles: Record<string, string> = {
  ...{ proxy_admin: 'owner', org_admin: 'admin', internal_user: 'developer', team: 'developer', user: 'developer' },
  ...{ proxy_admin_viewer: 'auditor', internal_user_viewer: 'auditor', internal_user_view_only: 'auditor' },
};

export function planPeople(rows: LitellmRows, plan: Plan, report: ImportReport, nowMs: number): void {
  const budgets = new Map(rows.budgets.map((row) => [String(row.budget_id), row]));
  const reading: Reading = { plan, report, budgets, nowMs, teams: new Map(), people: new Map(), hashes: new Set() };
  for (const [i, row] of rows.organisations.entries())
    addOrganisation(reading, row, `database LiteLLM_OrganizationTable[${i}]`);
  for (const [i, row] of rows.teams.entries()) addTeam(reading, row, `database LiteLLM_TeamTable[${i}]`);
  for (const [i, row] of rows.users.entries()) addUser(reading, rows, row, `database LiteLLM_UserTable[${i}]`);
  for (const [i, row] of rows.keys.entries()) addKey(reading, row, `database LiteLLM_VerificationToken[${i}]`);
}

interface Reading {
  readonly plan: Plan;
  readonly report: ImportReport;
  readonly budgets: ReadonlyMap<string, Fields>;
  readonly nowMs: number;
  /** What was read, by the source's ids. */
  readonly teams: Map<string, ProjectPlan>;
  readonly people: Map<string, PersonPlan>;
  readonly hashes: Set<string>;
}

function addOrganisation({ plan, report, budgets }: Reading, row: Fields, field: string): void {
  const id = String(row.organization_id);
  const alias = textOf(row.organization_alias) ?? id;
  const own = { ...(budgets.get(String(row.budget_id)) ?? {}), spend: row.spend };
  const { budget, openingUsd } = budgetOf(report, own, field);
  plan.accounts.push({ id, alias: slugOf(alias), budget, openingUsd } satisfies AccountPlan);
  report.taken(field, `the account of "${alias}"`);
  reportModels(report, row, field);
}

function addTeam({ plan, report, teams }: Reading, row: Fields, field: string): void {
  const id = String(row.team_id);
  const stated = textOf(row.team_alias) ?? id;
  const account = textOf(row.organization_id);
  const names = plan.projects.filter((project) => project.account === account).map(({ name }) => name);
  const name = unusedName(stated.slice(0, 90), names);
  const { budget, openingUsd } = budgetOf(report, row, field);
  const project = {
    ...{ id, account, name, budget, openingUsd },
    requestsPerMinute: countOf(row.rpm_limit),
    tokensPerMinute: countOf(row.tpm_limit),
  };
  plan.projects.push(project);
  teams.set(id, project);
  if (name === stated) report.taken(field, `the project "${name}"`);
  else report.changed(field, `the project "${name}": its name was taken or too long`);
  if (row.blocked === true)
    report.notTaken(`${field}.blocked`, 'a project cannot be blocked: its keys come over disabled');
  if (countOf(row.max_parallel_requests) !== null) parallel(report, field);
  reportModels(report, row, field);
}

function addUser({ plan, report, people, teams }: Reading, rows: LitellmRows, row: Fields, field: string): void {
  const email = textOf(row.user_email);
  const id = String(row.user_id);
  if (email === null || !/^[^\s@]+@[^\s@]+$/.test(email)) {
    if (id !== 'default_user_id')
      report.notTaken(field, `the user "${id.slice(0, 80)}" has no email address: add the person by hand`);
    return;
  }
  const known = listOf(row.teams).flatMap((id) => teams.get(String(id)) ?? []);
  const role = roles[String(row.user_role)] ?? 'developer';
  const inOrganisations = rows.organisationMembers.filter((member) => member.user_id === row.user_id);
  const accounts = new Set<string | null>([
    ...known.map(({ account }) => account),
    ...inOrganisations.map((member) => textOf(member.organization_id)),
  ]);
  if (accounts.size === 0) accounts.add(null);
  const memberships = [...accounts].map((account) => {
    const member = inOrganisations.find((each) => each.organization_id === account);
    const projects = known.filter((project) => project.account === account).map((project) => project.id);
    const own = (member && roles[String(member.user_role)]) ?? role;
    return { account, role: own, projects: own === 'developer' && projects.length > 0 ? projects : null };
  });
  if (plan.people.some((person) => person.email === email.toLowerCase())) {
    return void report.notTaken(field, 'another user has this email address: one person has one');
  }
  const person = { id, email: email.toLowerCase(), memberships };
  plan.people.push(person);
  people.set(id, person);
  report.taken(field, `a person, ${memberships.map(({ role: each }) => each).join(', ')}`);
  if (row.max_budget != null)
    report.notTaken(`${field}.max_budget`, 'people have no budget: give their keys or their project one');
}

function addKey({ plan, report, nowMs, budgets, teams, people, hashes }: Reading, row: Fields, field: string): void {
  const hash = String(row.token);
  const name = textOf(row.key_alias) ?? textOf(row.key_name) ?? 'imported';
  if (!/^[0-9a-f]{64}$/.test(hash))
    return void report.notTaken(
      field,
      `the key "${shown(name)}" is stored in another form than SHA-256: make a new one`,
    );
  const expires = textOf(row.expires);
  if (expires !== null && Date.parse(expires) <= nowMs)
    return void report.notTaken(field, `the key "${shown(name)}" has expired`);
  if (hashes.has(hash)) return void report.notTaken(field, 'the same key is there already');
  const team = textOf(row.team_id);
  const project = team === null ? undefined : teams.get(team);
  if (team !== null && !project) report.changed(`${field}.team_id`, 'there is no such team: the default project');
  const own = { ...(budgets.get(String(row.budget_id)) ?? {}), ...withoutNull(row) };
  const { budget, openingUsd } = budgetOf(report, own, field);
  const models = listOf(row.models).map(String);
  const person = people.get(String(row.user_id));
  hashes.add(hash);
  plan.keys.push({
    id: hash,
    account: project ? project.account : textOf(row.organization_id),
    project: project?.id ?? null,
    holder: person?.id ?? null,
    name: name.slice(0, 100),
    sha256: hash,
    lastFour: /^sk-\.\.\.(\w{4})$/.exec(String(row.key_name ?? ''))?.[1] ?? null,
    expiresAt: expires,
    disabled: row.blocked === true,
    limitUsd: budget?.limit_usd ?? null,
    limitReset: budget?.period ?? 'never',
    openingUsd,
    allowedModels: allowedModels(plan, report, models, field),
    requestsPerMinute: countOf(own.rpm_limit),
    tokensPerMinute: countOf(own.tpm_limit),
  } satisfies KeyPlan);
  report.taken(field, `the key "${shown(name)}", which keeps its token`);
  if (countOf(own.max_parallel_requests) !== null) parallel(report, field);
  for (const name of ['aliases', 'config', 'permissions', 'model_max_budget'] as const) {
    if (Object.keys(fieldsOf(row[name])).length > 0) report.notTaken(`${field}.${name}`, 'a key has no such settings');
  }
}

const shown = (name: string) => name.replace(/^sk-.*$/, 'sk-…').slice(0, 60);
const withoutNull = (row: Fields) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));

function parallel(report: ImportReport, field: string): void {
  report.notTaken(`${field}.max_parallel_requests`, 'there is no limit on requests at once: use requests per minute');
}

/** Names of the import, which a key may be limited to. `all-team-models` and the like stand for everything. */
function allowedModels(plan: Plan, report: ImportReport, models: readonly string[], field: string): string[] | null {
  if (models.length === 0 || models.some((model) => /^all-(team|proxy|org)-models$|^\*$/.test(model))) return null;
  const known = models.filter((model) => plan.names.has(model));
  for (const model of models) {
    if (!plan.names.has(model)) report.notTaken(`${field}.models`, `no name "${model.slice(0, 100)}" was imported`);
  }
  return known;
}

function reportModels(report: ImportReport, row: Fields, field: string): void {
  if (listOf(row.models).length > 0)
    report.notTaken(`${field}.models`, 'only keys are limited to models: limit its keys');
}

/** A limit with its period, and what was spent of it. */
export function budgetOf(
  report: ImportReport,
  row: Fields,
  field: string,
): { budget: BudgetPlan | null; openingUsd: string } {
  const openingUsd = usdOf(row.spend) ?? '0';
  const limit = usdOf(row.max_budget);
  if (limit === null) return { budget: null, openingUsd };
  const duration = textOf(row.budget_duration);
  const period = periodOf(duration);
  if (period === undefined) {
    report.changed(
      `${field}.budget_duration`,
      `"${duration!.slice(0, 20)}" has no counterpart: the limit stays, and never begins anew`,
    );
  } else if (!isCalendarEnd(period, textOf(row.budget_reset_at))) {
    report.changed(`${field}.budget_duration`, `${period}, from the start of a calendar day in UTC`);
  }
  return { budget: { limit_usd: limit, period: period ?? 'never' }, openingUsd };
}

export function slugOf(alias: string): string {
  return (
    alias
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 40) || 'organisation'
  );
}

export function unusedName(stated: string, taken: readonly string[]): string {
  const base = stated === 'default' ? 'default (imported)' : stated;
  for (let n = 1; ; n++) {
    const name = n === 1 ? base : `${base} (${n})`;
    if (!taken.includes(name)) return name;
  }
}
