/** Reads Bifrost's `config.json`: providers and their keys, virtual keys, budgets, rate limits, teams and customers. */
import { createHash } from 'node:crypto';
import { CommandFailure } from '../io.js';
import type { ModelEntries } from './entries.js';
import { readModelEntry } from './litellm-models.js';
import { addName } from './litellm-names.js';
import { keyWith } from './provider-keys.js';
import { noSetting } from './report.js';
import { budgetOf, keyRates, nameOf, slugOf, sourceId, unusedName, unusedSlug } from './shared.js';
import { fieldsWithin, RenamedReport, reportLeft } from './source-fields.js';
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

const ownSettings = 'left out: Lodestone has its own';

/** Bifrost's names of providers, as LiteLLM has them. */
const providerNames: Record<string, string> = {
  vertex: 'vertex_ai',
  ollama: 'ollama',
  sgl: 'hosted_vllm',
  azure: 'azure',
};

export function readBifrostConfig(into: ModelEntries, config: Fields, file: string): void {
  const fields = fieldsWithin(file, config);
  into.report.expect(fields);
  for (const [section, value] of Object.entries(config)) {
    const field = `${file} ${section}`;
    if (section === 'providers') readProviders(into, fieldsOf(value), field);
    else if (section === 'governance') readGovernance(into, fieldsOf(value), field);
    else if (section === '$schema' || section === 'client' || section === 'config_store' || section === 'logs_store') {
      into.report.changed(field, ownSettings);
    } else into.report.notTaken(field, noSetting);
  }
  reportLeft(into.report, fields);
}

function readProviders(into: ModelEntries, providers: Fields, field: string): void {
  const { report } = into;
  for (const [name, value] of Object.entries(providers)) {
    const settings = fieldsOf(value);
    const network = fieldsOf(settings.network_config);
    const weighed: WeighedKey[] = [];
    listOf(settings.keys).forEach((entry, index) => {
      const key = fieldsOf(entry);
      const path = `${field}.${name}.keys[${index}]`;
      const models = listOf(key.models).map(String);
      if (models.every((model) => model === '*'))
        report.changed(`${path}.models`, 'no model is named: only names that are listed are made');
      if (key.name !== undefined) report.changed(`${path}.name`, 'left out: a key is named after its variable');
      const base = textOf(network.base_url);
      const own: Record<string, string> = { api_key: 'value', api_base: `${field}.${name}.network_config.base_url` };
      const [id] = models.flatMap((model, at) => {
        if (model === '*') return [];
        const named = (part: string) => {
          const known = own[part.slice(part.lastIndexOf('.') + 1)] ?? `models[${at}]`;
          return known.includes(' ') ? known : `${path}.${known}`;
        };
        const reading = { ...into, report: new RenamedReport(report, named) };
        return addModel(reading, { name, model, key, base, path: '' }) ?? [];
      });
      for (const part of id === undefined ? ['value', 'weight'] : []) {
        if (key[part] !== undefined && !report.hasLine(`${path}.${part}`))
          report.notTaken(`${path}.${part}`, 'no model of this key was taken');
      }
      if (id !== undefined && key.weight !== undefined) weighed.push({ path: `${path}.weight`, id, key });
    });
    takeWeights(into, weighed);
    for (const other of Object.keys(network)) {
      if (other !== 'base_url') report.changed(`${field}.${name}.network_config.${other}`, ownSettings);
    }
    for (const other of Object.keys(settings)) {
      if (other !== 'keys' && other !== 'network_config') report.changed(`${field}.${name}.${other}`, ownSettings);
    }
  }
}

interface WeighedKey {
  /** Where its weight stands. */
  readonly path: string;
  /** The provider. */
  readonly id: string;
  readonly key: Fields;
}

/** Weights are shares there, and numbers from 1 here. */
function takeWeights({ plan, report }: ModelEntries, weighed: readonly WeighedKey[]): void {
  const numbers = weighed.map(({ key }) => Number(key.weight)).filter((weight) => weight > 0);
  const least = Math.min(...numbers);
  for (const { path, id, key } of weighed) {
    const made = keyWith(plan, id, secretOf(key.value) ?? '');
    const weight = Number((Number(key.weight) / least).toFixed(6));
    if (made === undefined) report.changed(path, 'left out: one key alone needs no weight');
    else if (!(weight >= 1)) report.notTaken(path, 'a weight is at least 1: leave the key out, or give it one');
    else {
      if (weight !== 1) made.weight = weight;
      report[weight === Number(key.weight) ? 'taken' : 'changed'](path, `the weight ${weight} of the key`);
    }
  }
}

/** Returns the provider that it is called at; undefined where it cannot be taken over. */
function addModel(
  into: ModelEntries,
  { name, model, key, base, path }: { name: string; model: string; key: Fields; base: string | null; path: string },
): string | undefined {
  const params = {
    model: `${providerNames[name] ?? name}/${model}`,
    api_key: secretOf(key.value),
    ...(base !== null && { api_base: base }),
  };
  const deployment = readModelEntry(into, { litellm_params: params }, path);
  if (deployment === null) return undefined;
  const wanted = `${name}/${model}`;
  if (wanted.split('/').length > 2)
    into.report.notTaken(`${path}.model`, `"${wanted.slice(0, 100)}" has the shape of an id`);
  else addName(into, wanted, { model: deployment.id, note: 'was: a model of Bifrost' }, `${path}.model`);
  return deployment.provider;
}

/** Text, or an object that names a variable. */
function secretOf(value: unknown): string | undefined {
  const { env_var: variable, value: literal } = fieldsOf(value);
  return (
    textOf(value) ??
    (textOf(variable) === null ? undefined : `env.${String(variable).replace(/^env\./, '')}`) ??
    textOf(literal) ??
    undefined
  );
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
