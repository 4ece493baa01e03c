/** Reads LiteLLM's `config.yaml`: the model list, fallbacks and aliases, and a verdict on every other setting. */
import { parseDocument } from 'yaml';
import { CommandFailure } from '../io.js';
import {
  type Deployment,
  defaultsOf,
  type ModelEntries,
  nameOf,
  readModelEntry,
  wildcardNames,
} from './litellm-models.js';
import { type Fields, fieldsOf, listOf, textOf } from './values.js';

/** A setting and what becomes of it. `null` = it is read elsewhere. */
type Answers = Record<string, readonly ['taken' | 'changed' | 'not taken', string] | null>;

const timeouts = 'time budgets hold for the whole gateway: set timeouts in lodestone.yaml';
const retries = 'a failed route is not called again; the next one of the model is, then its fallbacks';
const ownRedis = 'Lodestone keeps its own state in Redis: set storage.redis_url';

const litellmSettings: Answers = {
  fallbacks: null,
  default_fallbacks: null,
  drop_params: ['taken', 'what a route cannot apply is left out and named in the answer, unless the request is strict'],
  num_retries: ['changed', retries],
  request_timeout: ['not taken', timeouts],
  context_window_fallbacks: [
    'not taken',
    'a request that is too long is refused with its length: choose a model with a larger window',
  ],
  content_policy_fallbacks: ['not taken', 'an answer that a provider refuses is passed on as such'],
  callbacks: ['not taken', 'traces go to OpenTelemetry (OTEL_EXPORTER_OTLP_ENDPOINT), figures to /metrics'],
  success_callback: ['not taken', 'traces go to OpenTelemetry (OTEL_EXPORTER_OTLP_ENDPOINT), figures to /metrics'],
  failure_callback: ['not taken', 'traces go to OpenTelemetry (OTEL_EXPORTER_OTLP_ENDPOINT), figures to /metrics'],
  cache: ['not taken', 'answers are not kept, so none can be given to another caller'],
  cache_params: ['not taken', 'answers are not kept, so none can be given to another caller'],
  set_verbose: ['changed', 'left out: logs are structured, without prompts'],
  json_logs: ['taken', 'logs are JSON'],
};

const routerSettings: Answers = {
  fallbacks: null,
  model_group_alias: null,
  routing_strategy: ['changed', 'routes of an auto/ id are ranked by price, speed and health; a pin has one route'],
  allowed_fails: ['changed', 'a breaker for each route decides'],
  cooldown_time: ['changed', 'a breaker for each route decides'],
  num_retries: ['changed', retries],
  retry_after: ['changed', retries],
  timeout: ['not taken', timeouts],
  redis_host: ['not taken', ownRedis],
  redis_port: ['not taken', ownRedis],
  redis_password: ['not taken', ownRedis],
  redis_url: ['not taken', ownRedis],
  enable_pre_call_checks: ['taken', 'the size of a prompt and what a route can do are checked before the call'],
};

const generalSettings: Answers = {
  master_key: ['changed', 'left out: Lodestone has an admin token of its own'],
  database_url: ['changed', 'left out: keys and teams are read with --database-url'],
  store_model_in_db: ['changed', 'left out: models of the database are read with --database-url'],
  database_connection_pool_limit: ['changed', 'left out: Lodestone has a pool of its own'],
  proxy_batch_write_at: ['changed', 'left out: every request is in the journal before its last byte leaves'],
  alerting: ['not taken', 'notices go to a webhook and by mail: set notices in lodestone.yaml'],
};

const otherSections: Record<string, string> = {
  environment_variables: 'set them in the environment of the gateway',
  mcp_servers: 'tools of MCP servers are called by the client or the provider, not by the gateway',
  guardrails: 'a gateway that changes answers could not prove what was delivered',
  vector_store_registry: 'there are no vector stores',
  finetune_settings: 'fine-tuning is not passed on',
  files_settings: 'files are not passed on',
  credential_list: 'give each provider its key under providers in lodestone.yaml',
};

export function readYaml(text: string, file: string): Fields {
  const document = parseDocument(text, { prettyErrors: false });
  const [fault] = document.errors;
  if (fault) {
    const line = text.slice(0, fault.pos[0]).split('\n').length;
    throw new CommandFailure(`${file}:${line}: this is no YAML: ${fault.message.split('\n')[0]}`);
  }
  const value = document.toJS({ maxAliasCount: 100 }) as unknown;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new CommandFailure(
      `${file}: a mapping with model_list was expected. This is ${Array.isArray(value) ? 'a list' : 'something else'}.`,
    );
  }
  return value as Fields;
}

export function readLitellmConfig(into: ModelEntries, config: Fields, file: string): void {
  const groups = new Map<string, Group>();
  const order: (() => void)[] = [];
  for (const [section, value] of Object.entries(config)) {
    const field = `${file} ${section}`;
    if (section === 'model_list') readModelList(into, listOf(value), field, groups);
    else if (section === 'litellm_settings')
      order.push(() => readSettings(into, fieldsOf(value), field, litellmSettings, groups));
    else if (section === 'router_settings')
      order.push(() => readSettings(into, fieldsOf(value), field, routerSettings, groups));
    else if (section === 'general_settings')
      order.push(() => readSettings(into, fieldsOf(value), field, generalSettings, groups));
    else if (section === 'include') into.report.notTaken(field, 'give each file as a source of its own');
    else into.report.notTaken(field, otherSections[section] ?? 'a section that LiteLLM does not document');
  }
  addNames(into, groups);
  // Fallbacks and aliases name models of the list, wherever they stand.
  for (const read of order) read();
}

interface Group {
  readonly field: string;
  readonly deployments: Deployment[];
  defaults: Fields;
  note: string;
}

/** The entries of a model list, from a file or a database, by name. */
export function readModelList(
  into: ModelEntries,
  entries: readonly unknown[],
  field: string,
  groups: Map<string, Group>,
): void {
  for (const [index, value] of entries.entries()) {
    const entry = fieldsOf(value);
    const path = `${field}[${index}]`;
    const name = textOf(entry.model_name);
    const params = fieldsOf(entry.litellm_params);
    if (name === null) {
      into.report.notTaken(`${path}.model_name`, 'missing: a model without a name cannot be asked for');
      continue;
    }
    const models = wildcardNames(into, name, textOf(params.model) ?? '');
    if (models === null) {
      addEntry(into, groups, { name, entry, path });
      continue;
    }
    into.report.changed(
      `${path}.model_name`,
      `\`${name}\`: ${models.length} names, one for each model that the catalogue has`,
    );
    for (const each of models) {
      const { api_key, api_base, ...rest } = params;
      addEntry(into, groups, {
        name: each.name,
        entry: {
          litellm_params: {
            ...rest,
            ...(api_key !== undefined && { api_key }),
            ...(api_base !== undefined && { api_base }),
            model: each.model,
          },
        },
        path,
      });
    }
  }
}

function addEntry(
  into: ModelEntries,
  groups: Map<string, Group>,
  { name, entry, path }: { name: string; entry: Fields; path: string },
): void {
  const fault = nameFault(name);
  if (fault !== null) return void into.report.notTaken(`${path}.model_name`, `"${name.slice(0, 100)}" ${fault}`);
  const deployment = readModelEntry(into, entry, path);
  if (deployment === null) return;
  const params = fieldsOf(entry.litellm_params);
  const group = groups.get(name) ?? { field: `${path}.model_name`, deployments: [], defaults: {}, note: '' };
  if (group.deployments.length === 0) {
    group.defaults = defaultsOf(params);
    group.note = `was: ${textOf(params.model)}`;
  } else if (JSON.stringify(defaultsOf(params)) !== JSON.stringify(group.defaults)) {
    into.report.notTaken(
      `${path}.litellm_params`,
      `defaults that differ from the first entry of "${name}": one name has one set`,
    );
  }
  group.deployments.push(deployment);
  groups.set(name, group);
}

/** Why a text cannot be a name; null where it can. */
export function nameFault(name: string): string | null {
  if (!/^[\x21-\x7e]{1,200}$/.test(name)) return 'is no name: 1 to 200 printable characters without spaces';
  if (name.split('/').length > 2) return 'has the shape of an id: a name has at most one "/"';
  return /^(auto|alias)\//.test(name) ? 'begins with auto/ or alias/, which names cannot' : null;
}

function addNames({ plan, report }: ModelEntries, groups: ReadonlyMap<string, Group>): void {
  for (const [name, { field, deployments, defaults, note }] of groups) {
    const { plan: made, changed } = nameOf(deployments, defaults, note);
    plan.names.set(name, made);
    if (changed === null) report.taken(field, `the name \`${name}\`: \`${made.model}\``);
    else report.changed(field, `the name \`${name}\`: ${changed}`);
  }
}

function readSettings(
  into: ModelEntries,
  settings: Fields,
  field: string,
  answers: Answers,
  groups: ReadonlyMap<string, Group>,
): void {
  for (const [name, value] of Object.entries(settings)) {
    const path = `${field}.${name}`;
    const answer = answers[name];
    if (answer === null) readNamed(into, name, value, path, groups);
    else if (answer === undefined) into.report.notTaken(path, 'has no counterpart');
    else into.report.lines.push({ field: path, verdict: answer[0], words: answer[1] });
  }
}

function readNamed(
  into: ModelEntries,
  setting: string,
  value: unknown,
  path: string,
  groups: ReadonlyMap<string, Group>,
): void {
  if (setting === 'model_group_alias') return void readAliases(into, fieldsOf(value), path);
  if (setting === 'default_fallbacks') {
    const chain = chainOf(into, listOf(value), path, groups);
    for (const name of into.plan.names.keys()) addChain(into, name, chain);
    return;
  }
  listOf(value).forEach((rule, index) => {
    for (const [name, models] of Object.entries(fieldsOf(rule))) {
      const at = `${path}[${index}].${name}`;
      const chain = chainOf(into, listOf(models), at, groups);
      if (!into.plan.names.has(name)) into.report.notTaken(at, `the model list has no "${name}"`);
      else addChain(into, name, chain);
    }
  });
}

/** Chains hold ids, so each name stands for what serves it. */
function chainOf(
  { plan, report }: ModelEntries,
  names: readonly unknown[],
  path: string,
  groups: ReadonlyMap<string, Group>,
): string[] {
  return names.flatMap((value, index) => {
    const name = textOf(value);
    const known = name === null ? undefined : plan.names.get(name);
    if (!known) {
      report.notTaken(`${path}[${index}]`, `the model list has no "${String(name ?? value).slice(0, 100)}"`);
      return [];
    }
    report.taken(`${path}[${index}]`, `\`${known.model}\` in the chain`);
    return known.provider === undefined ? [known.model] : groups.get(name!)!.deployments.map(({ id }) => id);
  });
}

function addChain({ plan }: ModelEntries, name: string, chain: readonly string[]): void {
  const made = plan.names.get(name)!;
  const models = chain.filter((id) => id !== made.model);
  if (models.length > 0) made.fallback = { models: [...new Set([...(made.fallback?.models ?? []), ...models])] };
}

function readAliases({ plan, report }: ModelEntries, aliases: Fields, path: string): void {
  for (const [alias, stated] of Object.entries(aliases)) {
    const at = `${path}.${alias}`;
    const target = resolved(aliases, alias);
    const known = target === null ? undefined : plan.names.get(target);
    const fault = nameFault(alias);
    if (fault !== null) report.notTaken(at, `"${alias.slice(0, 100)}" ${fault}`);
    else if (target === null) report.notTaken(at, 'the aliases go in a circle');
    else if (!known) report.notTaken(at, `the model list has no "${String(aliasTarget(stated)).slice(0, 100)}"`);
    else if (plan.names.has(alias)) report.notTaken(at, 'the model list has this name too');
    else {
      plan.names.set(alias, { ...known, note: `was: alias of ${target}` });
      report.taken(at, `the name \`${alias}\`: \`${known.model}\``);
    }
  }
}

const aliasTarget = (stated: unknown) => textOf(stated) ?? textOf(fieldsOf(stated).model);

/** The name at the end of a chain of aliases; null where it has no end. */
function resolved(aliases: Fields, first: string): string | null {
  const seen = new Set<string>();
  let name = first;
  while (Object.hasOwn(aliases, name)) {
    if (seen.has(name)) return null;
    seen.add(name);
    const next = aliasTarget(aliases[name]);
    if (next === null || next === name) return next;
    name = next;
  }
  return name;
}
