/** The models of a LiteLLM configuration: each entry becomes a route with its credential. */
import { addOwnRoute, type KnownRoute, segmentOf } from './catalogue-book.js';
import type { Deployment, ModelEntries } from './entries.js';
import { ownPrice, priceFields } from './litellm-prices.js';
import { type Claimed, claimProvider, reportCloudField, splitModel } from './litellm-providers.js';
import { type OwnRoute, variableOf } from './plan.js';
import { coverModel } from './provider-keys.js';
import { noSetting } from './report.js';
import { countOf, type Fields, fieldsOf, textOf } from './values.js';

/** Fields of `litellm_params` that a chat request has too: the client's own win over them. */
const requestFields = new Set([
  ...['temperature', 'top_p', 'top_k', 'max_tokens', 'max_completion_tokens', 'stop', 'seed', 'n', 'presence_penalty'],
  ...['frequency_penalty', 'reasoning_effort', 'response_format', 'tools', 'tool_choice', 'parallel_tool_calls'],
  ...['logit_bias', 'logprobs', 'top_logprobs', 'user', 'metadata', 'service_tier', 'verbosity', 'modalities'],
  ...['min_p', 'repetition_penalty', 'prompt_cache_key', 'safety_identifier'],
]);
/** Read together with the model or its provider. */
const ownFields = new Set(['model', 'api_key', 'api_base', 'base_url', 'custom_llm_provider']);
const capabilityFields: Record<string, string> = {
  ...{ supports_function_calling: 'tools', supports_vision: 'vision', supports_response_schema: 'json_schema' },
};
const noLimit =
  'a route has no limit of its own; what the provider refuses is tried elsewhere. Limit the keys or the project instead';
const noShare = 'routes are ranked by price, speed and health; neither an order nor a share of requests can be set';
const timeBudgets = 'time budgets hold for the whole gateway: set timeouts in lodestone.yaml';
const noRetry = 'a failed route is not called again; the next one of the model is';
const whyNot: Record<string, string> = {
  ...{ rpm: noLimit, tpm: noLimit, max_budget: noLimit, budget_duration: noLimit },
  ...{ timeout: timeBudgets, stream_timeout: timeBudgets, max_retries: noRetry, num_retries: noRetry },
  max_parallel_requests: 'there is no limit on requests at once; use requests_per_minute of keys or projects',
  ...{ weight: noShare, order: noShare },
  cooldown_time: 'a breaker for each route decides',
  extra_headers: 'headers of your own are not sent: a provider gets what its API names',
  extra_body: 'send the fields with the request, or as defaults of the name',
  thinking: 'the field is Anthropic’s: set reasoning_effort as a default of the name',
};
const source = 'the configuration that was imported';

/** Every field of an entry, in its order. */
export function fieldsOfEntry(entry: Fields, path: string): string[] {
  return Object.entries(entry).flatMap(([name, value]) => {
    const inner = name === 'litellm_params' || name === 'model_info' ? Object.keys(fieldsOf(value)) : [];
    return inner.length > 0 ? inner.map((each) => `${path}.${name}.${each}`) : [`${path}.${name}`];
  });
}

/** Reads one entry of `model_list`; null where it cannot be served. */
export function readModelEntry(into: ModelEntries, entry: Fields, field: string): Deployment | null {
  const { report } = into;
  const params = paramsOf(into, entry, field);
  const info = fieldsOf(entry.model_info);
  const stated = modelOf(into, params, field);
  if (stated === null) return null;
  const { name, model } = splitModel(stated, textOf(params.custom_llm_provider));
  if (model === '') {
    report.notTaken(`${field}.litellm_params.model`, 'a provider without a model: name the model that it stands for');
    return null;
  }
  const provider = claimProvider(into, { field, name, params });
  if (provider === null) return null;
  const deployment = placeModel(into, { field, provider, model, params, info });
  coverModel(into, provider.id, params, deployment.canonicalId);
  report.taken(`${field}.litellm_params.model`, `\`${deployment.id}\``);
  reportRest(into, entry, params, field);
  return deployment;
}

/** The parameters, with those of the credential that they name. */
function paramsOf({ credentials, report }: ModelEntries, entry: Fields, field: string): Fields {
  const stated = fieldsOf(entry.litellm_params);
  // YAML reads a key of digits as a number.
  const params = typeof stated.api_key === 'number' ? { ...stated, api_key: String(stated.api_key) } : stated;
  const named = textOf(params.litellm_credential_name);
  if (named === null) return params;
  const path = `${field}.litellm_params.litellm_credential_name`;
  const values = credentials.get(named);
  if (values) report.taken(path, `the credential "${named.slice(0, 60)}"`);
  else report.notTaken(path, `there is no credential "${named.slice(0, 60)}": give the provider its key by hand`);
  return { ...values, ...params };
}

function modelOf({ report, env }: ModelEntries, params: Fields, field: string): string | null {
  const stated = textOf(params.model);
  const path = `${field}.litellm_params.model`;
  if (stated === null) {
    report.notTaken(path, 'missing: name the model that it stands for');
    return null;
  }
  const variable = variableOf(stated);
  if (variable === null) return stated;
  const value = textOf(env[variable]);
  if (value === null)
    report.notTaken(path, `${variable} is not set here: set it as LiteLLM has it, and run this again`);
  return value;
}

interface Placing {
  readonly field: string;
  readonly provider: Claimed;
  readonly model: string;
  readonly params: Fields;
  readonly info: Fields;
}

/** The route of the entry: one of the catalogue, or one of the own file where the price, the address or the model is another. */
function placeModel(into: ModelEntries, placing: Placing): Deployment {
  const { book, plan, report } = into;
  const { field, provider, model, info, params } = placing;
  const { id, from, creator, isElsewhere } = provider;
  const baseModel = textOf(info.base_model)?.replace(/^[a-z_]+\//, '') ?? null;
  const byName = book.find(from, model);
  const found = (baseModel === null ? null : book.find(from, baseModel)) ?? byName;
  const route = chosenRoute(into, placing, found?.routes ?? []);
  const price = ownPrice(params, info, route);
  const canonicalId =
    found?.canonicalId ?? `${segmentOf(creator)}/${segmentOf(model.slice(model.lastIndexOf('/') + 1))}`;
  // A deployment of Azure has a name of its own. Elsewhere the catalogue knows how its route is called.
  const isNamed = byName !== null && byName.canonicalId === found?.canonicalId && (from !== 'azure' || byName.isExact);
  const pin = (model: string) => `${id}/${model}/${isElsewhere ? 'global' : (route?.locode ?? 'global')}`;
  const isSame = route !== undefined && isNamed && !isElsewhere && price === null;
  if (isSame && (into.placed.get(pin(canonicalId)) ?? 'catalogue') === 'catalogue') {
    into.placed.set(pin(canonicalId), 'catalogue');
    return { canonicalId, provider: id, id: pin(canonicalId) };
  }
  const upstream = route && isNamed && !isElsewhere ? route.upstreamModel : model;
  const added = ownRoute(into, { placing, route, upstream, price });
  const definition = JSON.stringify(added);
  const own = unusedModel(into, canonicalId, pin, definition);
  const deployment = { canonicalId: own, provider: id, id: pin(own) };
  if (into.placed.get(deployment.id) !== definition) {
    into.placed.set(deployment.id, definition);
    addOwnRoute(book, plan, own, { ...added, locode: deployment.id.split('/').at(-1)! }, modelFacts(info, into.today));
  }
  const unpriced = added.price ? '' : '; it has no price, and is refused until catalogue.import.yaml gives one';
  const what = found ? `the catalogue has no such route of \`${found.canonicalId}\`` : 'the catalogue does not know it';
  if (route === undefined || unpriced !== '')
    report.changed(`${field}.litellm_params.model`, `${what}: an entry of catalogue.import.yaml${unpriced}`);
  return deployment;
}

/** The model's id, or one beside it where its pin already stands for another price, name or place. */
function unusedModel(
  { placed }: ModelEntries,
  canonicalId: string,
  pin: (model: string) => string,
  definition: string,
) {
  for (let n = 1; ; n++) {
    const id = n === 1 ? canonicalId : `${canonicalId}-${n}`;
    if ((placed.get(pin(id)) ?? definition) === definition) return id;
  }
}

/** The route in the region that the entry names, else the provider's first choice. */
function chosenRoute(into: ModelEntries, placing: Placing, routes: readonly KnownRoute[]): KnownRoute | undefined {
  const { report } = into;
  const { field, params } = placing;
  const first = routes.find(({ isDefault }) => isDefault) ?? routes[0];
  for (const name of ['aws_region_name', 'vertex_location']) {
    const region = textOf(params[name]);
    if (region === null) continue;
    const path = `${field}.litellm_params.${name}`;
    const there = routes.find(({ raw }) =>
      new RegExp(`[./]${region.replace(/\W/g, '.')}[./-]`).test(`${raw.base_url}/`),
    );
    const isPlaceless = first?.locode === 'global';
    if (there) {
      report.taken(path, `the route in \`${there.locode}\``);
      return there;
    }
    if (first === undefined) {
      if (name === 'aws_region_name') report.taken(path, 'the address of the route in catalogue.import.yaml');
      else report.notTaken(path, 'the location stands in the address of a route: add it to catalogue.import.yaml');
    } else if (isPlaceless && (name === 'aws_region_name' || region === 'global'))
      report.changed(path, name === 'aws_region_name' ? 'the gateway reads AWS_REGION' : 'the route of all regions');
    else report.notTaken(path, `the catalogue has no route of it there: \`${first.locode}\` is used`);
  }
  return first;
}

interface Adding {
  readonly placing: Placing;
  readonly route: KnownRoute | undefined;
  readonly upstream: string;
  readonly price: Fields | null;
}

function ownRoute(into: ModelEntries, { placing, route, upstream, price }: Adding): OwnRoute {
  const { provider, params } = placing;
  const { default: _default, price: listed, base_url, api_key_env, retires, ...raw } = route?.raw ?? {};
  const isSelfHosted = String(into.book.providerEntry(provider.from).base_url).startsWith('${');
  const free = {
    input: '0',
    output: '0',
    source: "no list price: the server is the operator's own",
    as_of: into.today,
  };
  const stated = price && { ...price, source, as_of: into.today };
  const shown = stated ?? listed ?? (isSelfHosted ? free : undefined);
  const region = provider.from === 'bedrock' && route === undefined ? textOf(params.aws_region_name) : null;
  const variable = region === null ? null : variableOf(region);
  return {
    ...(route ? raw : { processing: isSelfHosted ? 'operator' : 'unspecified', ...statedCapabilities(placing.info) }),
    // The provider ends a model at its own address alone.
    ...(!provider.isElsewhere && retires !== undefined && { retires }),
    ...(!provider.isElsewhere &&
      base_url !== undefined && { base_url, ...(api_key_env !== undefined && { api_key_env }) }),
    ...(region !== null && {
      base_url: `https://bedrock-runtime.${variable === null ? region : `\${${variable}}`}.amazonaws.com`,
    }),
    ...{ provider: provider.id, locode: 'global', upstream_model: upstream },
    ...(shown !== undefined && { price: shown }),
    ...{ source, as_of: into.today },
  };
}

function statedCapabilities(info: Fields): Fields {
  const capabilities = Object.keys(capabilityFields).filter((name) => info[name] === true);
  return capabilities.length > 0 ? { capabilities: capabilities.map((name) => capabilityFields[name]) } : {};
}

/** What the source says of a model that the catalogue does not have. */
function modelFacts(info: Fields, today: string): Fields {
  const mode = textOf(info.mode);
  const window = countOf(info.max_input_tokens);
  const output = countOf(info.max_output_tokens);
  return {
    ...((mode === 'embedding' || mode === 'rerank') && { kind: mode }),
    ...(window !== null && { context_window: window }),
    ...(output !== null && { max_output_tokens: output }),
    ...{ source, as_of: today },
  };
}

function reportRest(into: ModelEntries, entry: Fields, params: Fields, field: string): void {
  const { report } = into;
  const info = fieldsOf(entry.model_info);
  const reportPrice = (path: string) => {
    if (ownPrice(params, info, undefined) !== null) report.taken(path, 'a price of catalogue.import.yaml');
    else report.changed(path, 'with the listed prices of the model; without them it has none');
  };
  for (const [name, value] of Object.entries(fieldsOf(entry.litellm_params))) {
    const path = `${field}.litellm_params.${name}`;
    if (ownFields.has(name) || /^(litellm_credential_name|aws_region_name|vertex_location)$/.test(name)) continue;
    if (name in priceFields) reportPrice(path);
    else if (requestFields.has(name)) {
      const fault = into.defaultFault(name, value);
      if (fault === null) report.taken(path, 'a default of the name');
      else report.notTaken(path, fault);
    } else if (name === 'api_version') report.changed(path, 'left out: the address without a version is used');
    else if (name === 'drop_params')
      report.taken(path, 'what a route cannot apply is left out and named in the answer');
    else if (/^(aws|vertex)_/.test(name)) reportCloudField(into, name, value, path);
    else report.notTaken(path, whyNot[name] ?? noSetting);
  }
  for (const name of Object.keys(info)) {
    const path = `${field}.model_info.${name}`;
    if (name in priceFields) reportPrice(path);
    else if (/cost/.test(name)) report.notTaken(path, 'a price of another kind: add it to catalogue.import.yaml');
    else if (name === 'access_groups') report.taken(path, 'keys that are limited to the group may use this name');
    else if (['base_model', 'mode', 'id', 'max_input_tokens', 'max_output_tokens'].includes(name)) report.taken(path);
    else report.changed(path, 'left out: the catalogue says it');
  }
  for (const name of Object.keys(entry)) {
    if (!['model_name', 'litellm_params', 'model_info'].includes(name)) {
      report.notTaken(`${field}.${name}`, noSetting);
    }
  }
  const read = fieldsOfEntry(entry, field).filter((path) => path !== `${field}.model_name`);
  report.addRest(read, 'changed', 'left out: it is empty, or belongs to another provider');
}

/** The fields of `litellm_params` that become defaults of the name. */
export function defaultsOf({ defaultFault }: ModelEntries, params: Fields): Fields {
  return Object.fromEntries(
    Object.entries(params).filter(
      ([name, value]) => requestFields.has(name) && value !== null && defaultFault(name, value) === null,
    ),
  );
}
