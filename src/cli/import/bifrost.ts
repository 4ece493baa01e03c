/** Reads Bifrost's `config.json`: virtual keys, budgets, rate limits, teams and customers, beside its providers. */
import { createHash } from 'node:crypto';
import { CommandFailure } from '../io.js';
import { ownSettings, readProviders } from './bifrost-providers.js';
import type { ModelEntries } from './entries.js';
import { noSetting } from './report.js';
import { budgetOf, keyRates, nameOf, slugOf, sourceId, unusedName, unusedSlug } from './shared.js';
import { fieldsWithin, isNothing, RenamedReport, reportLeft } from './source-fields.js';
import { countOf, type Fields, fieldsOf, listOf, textOf } from './values.js';

export function readJson(text: string, file: string): Fields {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  } catch (error) {
    // The parser's own words quote the text, which may be a secret.
    const at = /position (\d+)/.exec((error as Error).message)?.[1];
    const line = at === undefined ? '' : `:${text.slice(0, Number(at)).split('\n').length}`;
    throw new CommandFailure(`${file}${line}: this is no JSON. Nothing was changed.`);
  }
  throw new CommandFailure(`${file}: a JSON object was expected.`);
}

export function readBifrostConfig(into: ModelEntries, config: Fields, file: string): void {
  into.report.expect(fieldsWithin(file, config));
  for (const [section, value] of Object.entries(config)) {
    const field = `${file} ${section}`;
    if (isNothing(value)) into.report.taken(field, 'nothing in it');
    else if (section === 'providers') readProviders(into, fieldsOf(value), field);
    else if (section === 'governance') readGovernance(into, fieldsOf(value), field);
    else if (section === '$schema' || section === 'client' || section === 'config_store' || section === 'logs_store') {
      into.report.changed(field, ownSettings);
    } else into.report.notTaken(field, noSetting);
  }
  reportLeft(into.report, { file, config });
}

function readGovernance(into: ModelEntries, governance: Fields, field: string): void {
  const { plan, report } = into;
  const budgets = byId(governance.budgets, `${field}.budgets`);
  const limits = byId(governance.rate_limits, `${field}.rate_limits`);
  for (const { path } of [...budgets.values(), ...limits.values()]) report.taken(path, 'with what names it');
  listOf(governance.customers).forEach((value, index) => {
    const customer = fieldsOf(value);
    const path = `${field}.customers[${index}]`;
    const alias = textOf(customer.name) ?? String(customer.id);
    const slug = unusedSlug(slugOf(alias), new Set(plan.accounts.map((account) => account.alias)));
    plan.accounts.push({ id: sourceId(customer.id), alias: slug, ...budgetFor(into, budgets, customer) });
    report.taken(path, `the account of "${nameOf(alias)}"`);
    reportOthers(into, customer, path);
  });
  listOf(governance.teams).forEach((value, index) => {
    const team = fieldsOf(value);
    const path = `${field}.teams[${index}]`;
    const account = accountOf(into, team, path);
    const names = plan.projects.filter((project) => project.account === account).map(({ name }) => name);
    const name = unusedName(nameOf(textOf(team.name) ?? String(team.id), 90), new Set(names));
    const { requestsPerMinute, tokensPerMinute } = ratesOf(into, limits.get(String(team.rate_limit_id)));
    plan.projects.push({
      id: sourceId(team.id),
      account,
      name,
      ...budgetFor(into, budgets, team),
      requestsPerMinute,
      tokensPerMinute,
    });
    report.taken(path, `the project "${name}"`);
    reportOthers(into, team, path);
  });
  for (const [index, value] of listOf(governance.virtual_keys).entries()) {
    addVirtualKey(into, fieldsOf(value), { budgets, limits, path: `${field}.virtual_keys[${index}]` });
  }
  for (const section of Object.keys(governance)) {
    if (['customers', 'teams', 'virtual_keys', 'budgets', 'rate_limits'].includes(section)) continue;
    report.notTaken(
      `${field}.${section}`,
      section === 'routing_rules' ? 'rules of routing have no counterpart: use names and their chains' : noSetting,
    );
  }
}

/** The customer, where there is one of that id. */
function accountOf({ plan, report }: ModelEntries, node: Fields, path: string): string | null {
  if (textOf(node.customer_id) === null) return null;
  const id = sourceId(node.customer_id);
  if (plan.accounts.some((account) => account.id === id)) return id;
  report.changed(`${path}.customer_id`, 'there is no such customer: the account of what belongs to none');
  return null;
}

interface Tables {
  readonly budgets: ReadonlyMap<string, Placed>;
  readonly limits: ReadonlyMap<string, Placed>;
  readonly path: string;
}

function addVirtualKey(into: ModelEntries, key: Fields, { budgets, limits, path }: Tables): void {
  const { plan, report } = into;
  const token = textOf(key.value);
  if (token === null) return void report.notTaken(path, 'it has no value: make a new key');
  if (/^env\./.test(token))
    return void report.notTaken(path, 'its value is a variable, which only Bifrost can read: make a new key');
  if (!/^[!-~]{1,512}$/.test(token))
    return void report.notTaken(path, 'its value is no token of 1 to 512 printable characters: make a new key');
  const sha256 = createHash('sha256').update(token).digest('hex');
  if (plan.keys.some((other) => other.sha256 === sha256))
    return void report.notTaken(path, 'another virtual key has the same value');
  const team = textOf(key.team_id) === null ? undefined : plan.projects.find(({ id }) => id === sourceId(key.team_id));
  if (textOf(key.team_id) !== null && !team)
    report.changed(`${path}.team_id`, 'there is no such team: the default project');
  const { budget, openingUsd } = budgetFor(into, budgets, key);
  const { requestsPerMinute, tokensPerMinute } = ratesOf(into, limits.get(String(key.rate_limit_id)));
  plan.keys.push({
    id: sourceId(key.id ?? sha256),
    account: team ? team.account : accountOf(into, key, path),
    ...{ project: team?.id ?? null, holder: null, name: nameOf(textOf(key.name)) },
    ...{ sha256, lastFour: token.length > 4 ? token.slice(-4) : null, expiresAt: null },
    ...{
      disabled: key.is_active === false,
      limitUsd: budget?.limit_usd ?? null,
      limitReset: budget?.period ?? 'never',
      openingUsd,
    },
    allowedModels: null,
    ...keyRates(
      report,
      { requests: requestsPerMinute, tokens: tokensPerMinute },
      { bounds: plan.keyBounds, fields: { requests: `${path}.rate_limit_id`, tokens: `${path}.rate_limit_id` } },
    ),
  });
  report.taken(path, 'a key that keeps its token');
  reportOthers(into, key, path);
  for (const name of ['provider_configs', 'mcp_configs', 'keys'] as const) {
    if (listOf(key[name]).length > 0)
      report.notTaken(`${path}.${name}`, 'limit the key to models or providers by hand');
  }
}

function budgetFor({ report }: ModelEntries, budgets: ReadonlyMap<string, Placed>, node: Fields) {
  const { row = {}, path = '' } = budgets.get(String(node.budget_id)) ?? {};
  const { max_limit, reset_duration, current_usage } = row;
  const named = (field: string) => `${path}.${field.endsWith('max_budget') ? 'max_limit' : 'reset_duration'}`;
  const fields = { max_budget: max_limit, budget_duration: reset_duration, spend: current_usage ?? 0 };
  return budgetOf(new RenamedReport(report, named), fields, '');
}

/** Limits of one minute; others are changed to the minute. */
function ratesOf({ report }: ModelEntries, { row = {}, path = '' }: Partial<Placed> = {}) {
  const of = (kind: 'request' | 'token'): number | null => {
    const most = countOf(row[`${kind}_max_limit`]);
    const every = textOf(row[`${kind}_reset_duration`]);
    if (most === null || every === '1m') return most;
    report.notTaken(
      `${path}.${kind}_reset_duration`,
      `a limit of ${kind}s every "${String(every).slice(0, 20)}": limits are by minute`,
    );
    return null;
  };
  return { requestsPerMinute: of('request'), tokensPerMinute: of('token') };
}

interface Placed {
  readonly row: Fields;
  readonly path: string;
}

function byId(value: unknown, path: string): Map<string, Placed> {
  return new Map(
    listOf(value).map((entry, index) => [
      String(fieldsOf(entry).id),
      { row: fieldsOf(entry), path: `${path}[${index}]` },
    ]),
  );
}

/** Fields of a row that are read, or that describe it. */
const readFields = new Set([
  ...['id', 'name', 'description', 'value', 'is_active', 'customer_id', 'team_id', 'budget_id', 'rate_limit_id'],
  ...['provider_configs', 'mcp_configs', 'keys', 'created_at', 'updated_at'],
]);

function reportOthers({ report }: ModelEntries, row: Fields, path: string): void {
  for (const [name, value] of Object.entries(row)) {
    const isEmpty = value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
    if (!readFields.has(name) && !isEmpty) report.notTaken(`${path}.${name}`, noSetting);
  }
}
