/** Reads LiteLLM's `config.yaml`: the model list, fallbacks and aliases, and a verdict on every other setting. */
import { parseDocument } from 'yaml';
import { CommandFailure } from '../io.js';
import type { ModelEntries } from './entries.js';
import { fieldsOfEntry } from './litellm-models.js';
import { readEntry } from './litellm-names.js';
import { variableOf } from './plan.js';
import { noSetting } from './report.js';
import { type Fields, fieldsOf, listOf, textOf } from './values.js';

/** A setting and what becomes of it. `null` = it is read elsewhere. */
type Answers = Record<string, readonly ['taken' | 'changed' | 'not taken', string] | null>;

const timeouts = 'time budgets hold for the whole gateway: set timeouts in lodestone.yaml';
const retries = 'a failed route is not called again; the next one of the model is, then its fallbacks';
const ownRedis = 'Lodestone keeps its own state in Redis: set storage.redis_url';

const noCache = 'answers are not kept, so none can be given to another caller';
const callbacks = 'traces go to OpenTelemetry (OTEL_EXPORTER_OTLP_ENDPOINT), figures to /metrics';
const tooLong = 'a request that is too long is refused with its length: choose a model with a larger window';
const refusals = 'an answer that a provider refuses is passed on as such';

const litellmSettings: Answers = {
  fallbacks: null,
  default_fallbacks: null,
  drop_params: ['taken', 'what a route cannot apply is left out and named in the answer, unless the request is strict'],
  num_retries: ['changed', retries],
  request_timeout: ['not taken', timeouts],
  context_window_fallbacks: ['not taken', tooLong],
  content_policy_fallbacks: ['not taken', refusals],
  callbacks: ['not taken', callbacks],
  success_callback: ['not taken', callbacks],
  failure_callback: ['not taken', callbacks],
  service_callback: ['not taken', callbacks],
  telemetry: ['taken', 'nothing is sent to anybody'],
  cache: ['not taken', noCache],
  cache_params: ['not taken', noCache],
  set_verbose: ['changed', 'left out: logs are structured, without prompts'],
  json_logs: ['taken', 'logs are JSON'],
  turn_off_message_logging: ['taken', 'logs hold no prompts and no answers'],
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
  redis_db: ['not taken', ownRedis],
  default_fallbacks: null,
  context_window_fallbacks: ['not taken', tooLong],
  content_policy_fallbacks: ['not taken', refusals],
  retry_policy: ['changed', retries],
  allowed_fails_policy: ['changed', 'a breaker for each route decides'],
  stream_timeout: ['not taken', timeouts],
  cache_responses: ['not taken', noCache],
  routing_strategy_args: ['changed', 'left out: the ranking has no such settings'],
  enable_pre_call_checks: ['taken', 'the size of a prompt and what a route can do are checked before the call'],
};

const generalSettings: Answers = {
  master_key: [
    'changed',
    'left out: Lodestone has an admin token of its own; clients that send it need a key, which token_sha256 can make of it',
  ],
  database_url: ['changed', 'left out: keys and teams are read with --database-url'],
  store_model_in_db: ['changed', 'left out: models of the database are read with --database-url'],
  database_connection_pool_limit: ['changed', 'left out: Lodestone has a pool of its own'],
  proxy_batch_write_at: ['changed', 'left out: every request is in the journal before its last byte leaves'],
  disable_spend_logs: ['changed', 'left out: every request is recorded, without prompts and answers'],
  disable_error_logs: ['changed', 'left out: every request is recorded, without prompts and answers'],
  store_prompts_in_spend_logs: ['not taken', 'prompts and answers are not kept: let the client keep them'],
  maximum_spend_logs_retention_period: ['not taken', 'set storage.retention.generations in lodestone.yaml'],
  maximum_spend_logs_retention_interval: ['changed', 'left out: whole months go'],
  allowed_ips: ['not taken', 'limit keys to addresses: allowed_ips of a key'],
  proxy_base_url: ['not taken', 'set server.base_url in lodestone.yaml'],
  json_logs: ['taken', 'logs are JSON'],
  alerting: ['not taken', 'notices go to a webhook and by mail: set notices in lodestone.yaml'],
};

const otherSections: Record<string, string> = {
  mcp_servers: 'tools of MCP servers are called by the client or the provider, not by the gateway',
  guardrails: 'a gateway that changes answers could not prove what was delivered',
  vector_store_registry: 'there are no vector stores',
  finetune_settings: 'fine-tuning is not passed on',
  files_settings: 'files are not passed on',
  include: 'give each file as a source of its own',
  assistant_settings: 'assistants are not passed on',
  search_tools: 'tools are called by the client or the provider, not by the gateway',
};

/** `repeated` gets the line of each key that stands twice in one mapping, of which the last holds. */
export function readYaml(text: string, file: string, repeated: (line: number) => void): Fields {
  // Merge keys (`<<`) and repeated anchors are YAML that LiteLLM reads.
  const document = parseDocument(text, { prettyErrors: false, merge: true, logLevel: 'silent' });
  const lineOf = ({ pos }: { pos: readonly number[] }) => text.slice(0, pos[0]).split('\n').length;
  for (const { code, pos } of document.errors) if (code === 'DUPLICATE_KEY') repeated(lineOf({ pos }));
  const fault = document.errors.find(({ code }) => code !== 'DUPLICATE_KEY');
  if (fault) {
    const line = lineOf(fault);
    // The parser's own words may quote the text, which may be a secret.
    const what = fault.code.toLowerCase().replaceAll('_', ' ');
    throw new CommandFailure(`${file}:${line}: this is no YAML (${what}). Nothing was changed.`);
  }
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 10_000 });
    JSON.stringify(value);
  } catch {
    throw new CommandFailure(
      `${file}: an alias (*name) has no anchor, stands inside of its own anchor, or there are too many. Nothing was changed.`,
    );
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new CommandFailure(
      `${file}: a mapping with model_list, litellm_settings or another section was expected. Nothing was changed.`,
    );
  }
  return value as Fields;
}

const settings: Record<string, Answers> = {
  litellm_settings: litellmSettings,
  router_settings: routerSettings,
  general_settings: generalSettings,
};

export function readLitellmConfig(into: ModelEntries, config: Fields, file: string): void {
  const { report } = into;
  const entries: (() => void)[] = [];
  for (const [section, value] of Object.entries(config)) {
    const field = `${file} ${section}`;
    const answers = Object.hasOwn(settings, section) ? settings[section] : undefined;
    if (isEmpty(value)) report.taken(field, 'nothing in it');
    else if (section === 'model_list' && Array.isArray(value)) {
      // Variables and credentials may stand behind the models that name them.
      report.expect(value.flatMap((entry, index) => placesOf(entry, `${field}[${index}]`)));
      entries.push(() => {
        for (const [index, entry] of value.entries()) readListed(into, entry, `${field}[${index}]`);
      });
    } else if (section === 'credential_list' && Array.isArray(value)) readCredentials(into, value, field);
    else if (section === 'environment_variables' && isMapping(value)) readVariables(into, value, field);
    else if (answers && isMapping(value)) readSettings(into, value, field, answers);
    else if (answers || section === 'model_list') report.notTaken(field, 'LiteLLM expects another form of it');
    else report.notTaken(field, otherSections[section] ?? 'no section that this import knows');
  }
  for (const read of entries) read();
}

const isMapping = (value: unknown): value is Fields => value === fieldsOf(value);
const isEmpty = (value: unknown) =>
  value === null || (typeof value === 'object' && Object.keys(value as object).length === 0);

/** The fields of an entry, and what may be missing in it. */
function placesOf(entry: unknown, path: string): string[] {
  return [...fieldsOfEntry(fieldsOf(entry), path), path, `${path}.model_name`, `${path}.litellm_params.model`];
}

function readListed(into: ModelEntries, value: unknown, path: string): void {
  if (isMapping(value)) readEntry(into, value, path);
  else into.report.notTaken(path, 'a mapping with model_name and litellm_params was expected');
}

function readSettings(into: ModelEntries, found: Fields, field: string, answers: Answers): void {
  for (const [name, value] of Object.entries(found)) {
    const path = `${field}.${name}`;
    const answer = Object.hasOwn(answers, name) ? answers[name] : undefined;
    if (answer === null) readNamed(into, name, value, path);
    else if (answer === undefined) into.report.notTaken(path, noSetting);
    else into.report.add(path, answer[0], answer[1]);
  }
}

/** Variables that the configuration sets itself, which its other fields may name. */
function readVariables({ plan, report }: ModelEntries, variables: Fields, field: string): void {
  for (const [name, value] of Object.entries(variables)) {
    const path = `${field}.${name}`;
    const text = typeof value === 'object' || value === null ? null : String(value);
    if (text === null || text === '' || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      report.notTaken(path, 'no variable with a value: set it in the environment of the gateway');
    } else if (variableOf(text) !== null) report.changed(path, `set it to the value of ${variableOf(text)}`);
    else {
      plan.secrets.set(name, text);
      report.changed(path, 'a variable of secrets.env');
    }
  }
}

/** Credentials that entries of the model list name. */
function readCredentials({ credentials, report }: ModelEntries, list: readonly unknown[], field: string): void {
  for (const [index, value] of list.entries()) {
    const { credential_name: stated, credential_values: values, ...rest } = fieldsOf(value);
    const path = `${field}[${index}]`;
    const name = textOf(stated);
    if (name === null) {
      report.notTaken(`${path}.credential_name`, 'missing: nothing can name it');
      continue;
    }
    credentials.set(name, fieldsOf(values));
    report.taken(`${path}.credential_name`, 'its values go to the providers of the models that name it');
    for (const each of Object.keys(fieldsOf(values))) report.taken(`${path}.credential_values.${each}`);
    for (const each of Object.keys(rest)) report.changed(`${path}.${each}`, 'left out: a description');
  }
}

/** Reads a setting that names models of the list. */
function readNamed({ groups, report }: ModelEntries, setting: string, value: unknown, path: string): void {
  const section = path.includes(' router_settings.') ? 'router_settings' : 'litellm_settings';
  const addRule = (name: string, field: string, models: unknown) => {
    const list = listOf(models);
    groups.rules.push({ section, name, field, models: list });
    report.expect([field, ...list.map((_, index) => `${field}[${index}]`)]);
  };
  if (setting === 'model_group_alias') {
    for (const [alias, stated] of Object.entries(fieldsOf(value))) {
      const field = `${path}.${alias}`;
      report.expect([field]);
      groups.aliases.set(alias, { field, target: textOf(stated) ?? textOf(fieldsOf(stated).model) });
    }
  } else if (setting === 'default_fallbacks') addRule('*', path, value);
  else {
    listOf(value).forEach((rule, index) => {
      for (const [name, models] of Object.entries(fieldsOf(rule))) addRule(name, `${path}[${index}].${name}`, models);
    });
  }
  if (Object.keys(fieldsOf(value)).length === 0 && listOf(value).length === 0) report.taken(path, 'nothing in it');
}
