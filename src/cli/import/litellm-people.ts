/** Turns LiteLLM's organisations, teams, users and keys into accounts, projects, people and keys. */
import type { LitellmRows } from './litellm-database.js';
import {
  isEverything,
  membersByUser,
  reportBudgets,
  reportMemberships,
  reportModels,
  reportOthers,
  reportUserLimits,
  taken,
  teamsByUser,
} from './litellm-rows.js';
import type { KeyPlan, PersonPlan, Plan, ProjectPlan } from './plan.js';
import type { ImportReport } from './report.js';
import { allowedMax, budgetOf, emailOf, keyRates, nameOf, slugOf, sourceId, unusedName, unusedSlug } from './shared.js';
import { countOf, type Fields, listOf, textOf } from './values.js';

const roles: Record<string, string> = {
  ...{ proxy_admin: 'owner', org_admin: 'admin', internal_user: 'developer', team: 'developer', user: 'developer' },
  ...{ proxy_admin_viewer: 'auditor', internal_user_viewer: 'auditor', internal_user_view_only: 'auditor' },
};

export function planPeople(rows: LitellmRows, plan: Plan, report: ImportReport, nowMs: number): void {
  const budgets = new Map(rows.budgets.map((row) => [String(row.budget_id), row]));
  const reading: Reading = {
    ...{ plan, report, budgets, nowMs, teams: new Map(), people: new Map(), hashes: new Set() },
    userModels: new Map(rows.users.map((row) => [String(row.user_id), limitedTo(row.models)])),
    ...{
      projectNames: new Map(),
      emails: new Set(),
      lists: new Map(),
      teamsOf: teamsByUser(rows),
      membersOf: membersByUser(rows),
    },
  };
  for (const [i, row] of rows.organisations.entries())
    addOrganisation(reading, row, `database LiteLLM_OrganizationTable[${i}]`);
  reportBudgets(report, rows);
  for (const [i, row] of rows.teams.entries()) addTeam(reading, row, `database LiteLLM_TeamTable[${i}]`);
  for (const [i, row] of rows.users.entries()) addUser(reading, row, `database LiteLLM_UserTable[${i}]`);
  reportMemberships(report, rows);
  for (const [i, row] of rows.keys.entries()) addKey(reading, row, `database LiteLLM_VerificationToken[${i}]`);
}

interface Team {
  readonly project: ProjectPlan;
  readonly isBlocked: boolean;
  /** What its keys are limited to; empty = nothing. */
  readonly models: readonly string[];
}

interface Reading {
  readonly plan: Plan;
  readonly report: ImportReport;
  readonly budgets: ReadonlyMap<string, Fields>;
  readonly nowMs: number;
  /** What was read, by the source's ids. */
  readonly teams: Map<string, Team>;
  /** Names that a list of models of keys stands for, because many keys have the same. */
  readonly lists: Map<string, { known: string[]; unknown: string[] }>;
  readonly people: Map<string, PersonPlan>;
  /** What keys without a team are limited to, by user; empty = nothing. */
  readonly userModels: ReadonlyMap<string, readonly string[]>;
  readonly hashes: Set<string>;
  /** Names of projects that are in use, by account. */
  readonly projectNames: Map<string | null, Set<string>>;
  readonly emails: Set<string>;
  readonly teamsOf: ReadonlyMap<string, ReadonlySet<string>>;
  readonly membersOf: ReadonlyMap<string, readonly Fields[]>;
}

function addOrganisation({ plan, report, budgets }: Reading, row: Fields, field: string): void {
  report.expect([field]);
  const id = sourceId(row.organization_id);
  const alias = textOf(row.organization_alias) ?? id;
  const slug = unusedSlug(slugOf(alias), new Set(plan.accounts.map((account) => account.alias)));
  const own = { ...(budgets.get(String(row.budget_id)) ?? {}), spend: row.spend };
  const { budget, openingUsd } = budgetOf(report, own, field);
  plan.accounts.push({ id, alias: slug, budget, openingUsd });
  report.taken(field, taken(row, `the account of "${nameOf(alias)}"`));
  reportModels(report, row, field);
  reportOthers(report, row, field);
}

/** The organisation, where there is one of that id. */
function accountOf({ plan, report }: Reading, row: Fields, field: string): string | null {
  if (textOf(row.organization_id) === null) return null;
  const id = sourceId(row.organization_id);
  if (plan.accounts.some((account) => account.id === id)) return id;
  report.changed(`${field}.organization_id`, 'there is no such organisation: the account of what belongs to none');
  return null;
}

function addTeam(reading: Reading, row: Fields, field: string): void {
  const { plan, report, teams, projectNames } = reading;
  report.expect([field]);
  const id = sourceId(row.team_id);
  const stated = nameOf(textOf(row.team_alias) ?? id);
  const account = accountOf(reading, row, field);
  const names = projectNames.get(account) ?? new Set();
  projectNames.set(account, names);
  const name = unusedName(nameOf(stated, 90), names);
  names.add(name);
  const { budget, openingUsd } = budgetOf(report, row, field);
  const project = {
    ...{ id, account, name, budget, openingUsd },
    requestsPerMinute: countOf(row.rpm_limit),
    tokensPerMinute: countOf(row.tpm_limit),
  };
  plan.projects.push(project);
  const models = limitedTo(row.models);
  teams.set(String(row.team_id), { project, isBlocked: row.blocked === true, models });
  if (name === stated) report.taken(field, taken(row, `the project "${name}"`));
  else report.changed(field, taken(row, `the project "${name}": its name was taken or too long`));
  if (row.blocked === true) report.changed(`${field}.blocked`, 'a project cannot be blocked: its keys are disabled');
  if (countOf(row.max_parallel_requests) !== null) parallel(report, field);
  if (models.length > 0) report.changed(`${field}.models`, 'a project is not limited to models: its keys are');
  reportOthers(report, row, field);
}

function addUser(reading: Reading, row: Fields, field: string): void {
  const { plan, report, people, teams, emails, teamsOf, membersOf } = reading;
  report.expect([field]);
  reportUserLimits(report, row, field);
  const email = emailOf(row.user_email);
  const id = String(row.user_id);
  if (email === null) {
    if (id !== 'default_user_id')
      report.notTaken(field, `the user "${id.slice(0, 80)}" has no email address: add the person by hand`);
    return;
  }
  const known = [...(teamsOf.get(id) ?? [])].flatMap((team) => teams.get(team)?.project ?? []);
  const role = roles[String(row.user_role)] ?? 'developer';
  const inOrganisations = membersOf.get(id) ?? [];
  const accounts = new Set<string | null>([
    ...known.map(({ account }) => account),
    ...inOrganisations.map((member) => accountOf(reading, member, field)),
  ]);
  if (accounts.size === 0) accounts.add(null);
  const memberships = [...accounts].map((account) => {
    const member = inOrganisations.find((each) => sourceId(each.organization_id) === account);
    const projects = known.filter((project) => project.account === account).map((project) => project.id);
    const own = (member && roles[String(member.user_role)]) ?? role;
    return { account, role: own, projects: own === 'developer' && projects.length > 0 ? projects : null };
  });
  if (emails.has(email)) {
    return void report.notTaken(field, 'another user has this email address: one person has one');
  }
  const person = { id: sourceId(id), email, memberships };
  plan.people.push(person);
  emails.add(person.email);
  people.set(id, person);
  report.taken(field, `a person, ${memberships.map(({ role: each }) => each).join(', ')}`);
  reportOthers(report, row, field);
}

function addKey(reading: Reading, row: Fields, field: string): void {
  const { plan, report, nowMs, budgets, teams, people, hashes } = reading;
  report.expect([field]);
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
  if (row.team_id === 'litellm-dashboard')
    return void report.changed(field, 'left out: a session of LiteLLM’s own dashboard');
  if (hashes.has(hash)) return void report.notTaken(field, 'the same key is there already');
  const team = textOf(row.team_id);
  const inTeam = team === null ? undefined : teams.get(team);
  const project = inTeam?.project;
  if (team !== null && !project) report.changed(`${field}.team_id`, 'there is no such team: the default project');
  const shared = budgets.get(String(row.budget_id));
  const own = shared ? { ...shared, ...withoutNull(row) } : row;
  const { budget, openingUsd } = budgetOf(report, own, field);
  const over = inTeam ? inTeam.models : (reading.userModels.get(String(row.user_id)) ?? []);
  const allowedModels = allowedOf(reading, limitedTo(row.models), over, field);
  if (allowedModels?.length === 0)
    return void report.notTaken(field, `no model of the key "${shown(name)}" was imported: make a new one`);
  if (allowedModels && allowedModels.length > allowedMax) {
    const reason = `limited to ${allowedModels.length} models, and a key can be limited to ${allowedMax}: make a new one`;
    return void report.notTaken(field, `the key "${shown(name)}" is ${reason}`);
  }
  const account = project ? project.account : accountOf(reading, row, field);
  const person = people.get(String(row.user_id));
  const isMember = person?.memberships.some((membership) => membership.account === account) === true;
  if (person && !isMember) report.changed(`${field}.user_id`, 'its user is in another account: nobody holds it');
  hashes.add(hash);
  plan.keys.push({
    id: hash,
    account,
    project: project?.id ?? null,
    holder: isMember ? person!.id : null,
    name: nameOf(name),
    sha256: hash,
    lastFour: /^sk-\.\.\.([!-~]{4})$/.exec(String(row.key_name ?? ''))?.[1] ?? null,
    expiresAt: expires,
    disabled: row.blocked === true || inTeam?.isBlocked === true,
    limitUsd: budget?.limit_usd ?? null,
    limitReset: budget?.period ?? 'never',
    openingUsd,
    allowedModels,
    ...keyRates(
      report,
      { requests: countOf(own.rpm_limit), tokens: countOf(own.tpm_limit) },
      { bounds: plan.keyBounds, fields: { requests: `${field}.rpm_limit`, tokens: `${field}.tpm_limit` } },
    ),
  } satisfies KeyPlan);
  report.taken(field, taken(row, `the key "${shown(name)}", which keeps its token`));
  if (countOf(own.max_parallel_requests) !== null) parallel(report, field);
  reportOthers(report, row, field);
}

const shown = (name: string) => name.replace(/^sk-.*$/, 'sk-…').slice(0, 60);
const withoutNull = (row: Fields) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));

function parallel(report: ImportReport, field: string): void {
  report.notTaken(`${field}.max_parallel_requests`, 'there is no limit on requests at once: use requests per minute');
}

/** The models that a row limits to; empty = nothing. */
function limitedTo(models: unknown): readonly string[] {
  const list = listOf(models).map(String);
  return list.some(isEverything) ? [] : list;
}

/** Names of the import that a key may use: its own that its team, or its user, may use too. null where it is limited to none. */
function allowedOf(reading: Reading, own: readonly string[], over: readonly string[], field: string): string[] | null {
  if (own.length === 0 && over.length === 0) return null;
  const mine = namesOf(reading, own);
  const above = namesOf(reading, over);
  for (const model of own.length > 0 ? mine.unknown : above.unknown) {
    reading.report.notTaken(`${field}.models`, `no name "${model.slice(0, 100)}" was imported`);
  }
  if (own.length === 0) return above.known;
  if (over.length === 0) return mine.known;
  const both = mine.known.filter((name) => above.known.includes(name));
  if (both.length < mine.known.length)
    reading.report.changed(`${field}.models`, 'without those that its team, or its user, may not use');
  return both;
}

function namesOf({ plan, lists }: Reading, models: readonly string[]): { known: string[]; unknown: string[] } {
  const key = JSON.stringify(models);
  const list = lists.get(key) ?? listed(plan, models);
  lists.set(key, list);
  return list;
}

function listed(plan: Plan, models: readonly string[]): { known: string[]; unknown: string[] } {
  const known: string[] = [];
  const unknown: string[] = [];
  for (const model of models) {
    const start = model.endsWith('*') ? model.slice(0, -1) : null;
    const group = [...(plan.accessGroups.get(model) ?? [])].filter((name) => plan.names.has(name));
    const found = start === null ? group : [...plan.names.keys()].filter((name) => name.startsWith(start));
    if (plan.names.has(model)) known.push(model);
    else if (found.length > 0) known.push(...found);
    else unknown.push(model);
  }
  return { known: [...new Set(known)], unknown };
}
