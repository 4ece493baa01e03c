/** The models of a LiteLLM configuration: each entry becomes a route with its credential, each name the id that serves it. */
import { addOwnRoute, type CatalogueBook, newProviderId, segmentOf } from './catalogue-book.js';
import type { NamePlan, OwnRoute, Plan } from './plan.js';
import type { ImportReport } from './report.js';
import { type Fields, fieldsOf, listOf, perMillion, textOf } from './values.js';

/** LiteLLM's names of providers that the catalogue has under another id. */
const providerIds: Record<string, string> = {
  ...{ azure: 'azure', vertex_ai: 'vertex', 'vertex_ai-anthropic_models': 'vertex', gemini: 'google-ai-studio' },
  ...{ bedrock_converse: 'bedrock', converse: 'bedrock', cohere_chat: 'cohere', moonshot: 'moonshotai' },
  ...{ dashscope: 'alibaba', together_ai: 'together', fireworks_ai: 'fireworks', codestral: 'mistral' },
  ...{ hosted_vllm: 'vllm', ollama_chat: 'ollama', text_completion_openai: 'openai', openai_like: 'openai' },
  ...{ custom_openai: 'openai', openai_compatible: 'openai' },
};

/** Fields of `litellm_params` that a chat request has too: the client's own win over them. */
const requestFields = new Set([
  ...['temperature', 'top_p', 'max_tokens', 'max_completion_tokens', 'stop', 'seed', 'n', 'presence_penalty'],
  ...['frequency_penalty', 'reasoning_effort', 'response_format', 'tools', 'tool_choice', 'parallel_tool_calls'],
  ...['logit_bias', 'logprobs', 'top_logprobs', 'user', 'metadata', 'service_tier', 'verbosity'],
]);
/** Read together with the model or its provider. */
const ownFields = new Set(['model', 'api_key', 'api_base', 'base_url', 'api_version', 'custom_llm_provider']);
const priceFields: Record<string, string> = {
  ...{ input_cost_per_token: 'input', output_cost_per_token: 'output' },
  ...{ cache_read_input_token_cost: 'cached_input', cache_creation_input_token_cost: 'cache_write' },
};
const whyNot: Record<string, string> = {
  rpm: 'a route has no limit of its own; what the provider refuses is tried elsewhere. Limit the keys or the project instead',
  tpm: 'a route has no limit of its own; what the provider refuses is tried elsewhere. Limit the keys or the project instead',
  timeout: 'time budgets hold for the whole gateway: set timeouts in lodestone.yaml',
  stream_timeout: 'time budgets hold for the whole gateway: set timeouts in lodestone.yaml',
  max_retries: 'a failed route is not called again; the next one of the model is',
  max_parallel_requests: 'there is no limit on requests at once; use requests_per_minute of keys or projects',
  weight: 'routes are ranked by price, speed and health; a share of requests cannot be set',
};

/** What an entry of a model list is served by. */
export interface Deployment {
  readonly canonicalId: string;
  readonly provider: string;
  /** A pin. */
  readonly id: string;
}

export interface ModelEntries {
  readonly plan: Plan;
  readonly book: CatalogueBook;
  readonly report: ImportReport;
  readonly today: string;
  /** Which credential and address each provider id stands for. */
  readonly claimed: Map<string, string>;
}

/** Reads one entry of `model_list`; null where it cannot be served. */
export function readModelEntry(into: ModelEntries, entry: Fields, field: string): Deployment | null {
  const { report, book } = into;
  const params = fieldsOf(entry.litellm_params);
  const info = fieldsOf(entry.model_info);
  const stated = textOf(params.model);
  if (stated === null) {
    report.notTaken(`${field}.litellm_params.model`, 'missing: name the model that it stands for');
    return null;
  }
  const { name, model } = splitModel(stated, textOf(params.custom_llm_provider));
  const known = providerIds[name] ?? name;
  const base = textOf(params.api_base) ?? textOf(params.base_url);
  if (!book.hasProvider(known) && base === null) {
    report.notTaken(
      `${field}.litellm_params.model`,
      `the catalogue has no provider "${name}", and no api_base says where it is: add a provider to a catalogue file`,
    );
    return null;
  }
  const provider = claimProvider(into, {
    field,
    known: book.hasProvider(known) ? known : 'openai',
    name,
    base,
    params,
  });
  const deployment = placeModel(into, { field, provider, from: known, model, base, params, info });
  report.taken(`${field}.litellm_params.model`, `\`${deployment.id}\``);
  reportRest(into, entry, params, info, field);
  return deployment;
}

/** `azure/gpt-4o`, or the model alone with its provider beside it. LiteLLM takes a model without a provider for one of OpenAI. */
function splitModel(stated: string, custom: string | null): { name: string; model: string } {
  if (custom !== null)
    return { name: custom, model: stated.startsWith(`${custom}/`) ? stated.slice(custom.length + 1) : stated };
  const slash = stated.indexOf('/');
  if (slash < 0) return { name: stated.startsWith('claude') ? 'anthropic' : 'openai', model: stated };
  const name = stated.slice(0, slash);
  const model = stated.slice(slash + 1).replace(/^(converse|invoke|responses)\//, '');
  return { name, model };
}

interface Claim {
  readonly field: string;
  /** The provider of the catalogue. */
  readonly known: string;
  /** As the source calls it. */
  readonly name: string;
  readonly base: string | null;
  readonly params: Fields;
}

/** The provider with this address: the catalogue's own, or one more with the same dialect. Several keys of it are reported. */
function claimProvider({ plan, book, report, claimed }: ModelEntries, claim: Claim): string {
  const { field, known, name, base, params } = claim;
  const secret = textOf(params.api_key);
  const address = base === null ? '' : addressOf(known, base);
  let id: string | undefined;
  for (const [candidate, taken] of claimed) if (taken === `${known} ${address}`) id = candidate;
  if (id === undefined) {
    const isOwn = address !== '' && (known === 'openai' || claimed.has(known));
    id = isOwn || claimed.has(known) ? newProviderId(book, plan, known === 'openai' ? name : known) : known;
    claimed.set(id, `${known} ${address}`);
    plan.providers.set(id, {});
    if (id !== known) {
      plan.catalogue.providers.push({
        id,
        name: `${name} (imported)`,
        dialect: book.dialectOf(known),
        base_url: address,
      });
    } else if (address !== '') plan.providers.get(id)!.base_url = address;
  }
  if (base !== null) report.taken(`${field}.litellm_params.api_base`, `the address of the provider \`${id}\``);
  if (secret !== null) claimSecret(plan, report, { id, secret, field });
  return id;
}

function claimSecret(
  plan: Plan,
  report: ImportReport,
  { id, secret, field }: { id: string; secret: string; field: string },
): void {
  const settings = plan.providers.get(id)!;
  const reference = plan.secretReference(secret, `${id}_API_KEY`);
  const path = `${field}.litellm_params.api_key`;
  if (settings.api_key === undefined || settings.api_key === reference) {
    settings.api_key = reference;
    report.taken(path, `\`${reference}\` of the provider \`${id}\``);
  } else {
    report.notTaken(
      path,
      `the provider \`${id}\` has a key already, \`${settings.api_key}\`, which is used for this model too`,
    );
  }
}

/** Azure's addresses name the resource alone in LiteLLM. */
function addressOf(provider: string, base: string): string {
  const plain = base
    .replace(/^os\.environ\/([A-Za-z_][A-Za-z0-9_]*)$/, (_, name: string) => `\${${name}}`)
    .replace(/\/+$/, '');
  return provider === 'azure' && !plain.includes('/openai') ? `${plain}/openai/v1` : plain;
}

interface Placing {
  readonly field: string;
  readonly provider: string;
  /** The provider of the catalogue whose models it serves. */
  readonly from: string;
  readonly model: string;
  readonly base: string | null;
  readonly params: Fields;
  readonly info: Fields;
}

/** The route of the entry: one of the catalogue, or one of the own file where the price, the address or the model is another. */
function placeModel(into: ModelEntries, placing: Placing): Deployment {
  const { book, plan, report } = into;
  const { field, provider, from, model, info, params } = placing;
  const baseModel = textOf(info.base_model)?.replace(/^[a-z_]+\//, '') ?? null;
  const found = [...book.find(from, model), ...(baseModel === null ? [] : book.find(from, baseModel))];
  const route = found.find(({ isDefault }) => isDefault) ?? found[0];
  const price = ownPrice(params, info);
  const canonicalId =
    route?.canonicalId ?? book.modelNamed(baseModel ?? model) ?? `${segmentOf(from)}/${segmentOf(lastPart(model))}`;
  const isSame =
    route !== undefined && provider === route.provider && price === null && book.find(from, model).length > 0;
  const locode = route?.locode ?? 'global';
  const deployment = { canonicalId, provider, id: `${provider}/${canonicalId}/${locode}` };
  if (isSame) return deployment;
  const { default: _default, price: listed, ...raw } = route?.raw ?? { processing: 'unspecified' };
  const added: OwnRoute = {
    ...raw,
    ...{ provider, locode, default: true, upstream_model: model },
    ...((price ?? listed)
      ? { price: price ? { ...price, source: 'the configuration that was imported', as_of: into.today } : listed }
      : {}),
    ...{ source: 'the configuration that was imported', as_of: into.today },
  };
  const mode = textOf(info.mode);
  const kind = mode === 'embedding' ? { kind: 'embedding' } : mode === 'rerank' ? { kind: 'rerank' } : {};
  addOwnRoute(book, plan, canonicalId, added, {
    ...kind,
    source: 'the configuration that was imported',
    as_of: into.today,
  });
  if (route === undefined) {
    const unpriced = price === null ? '; it has no price, and is refused until catalogue.import.yaml gives one' : '';
    report.changed(
      `${field}.litellm_params.model`,
      `the catalogue does not know it: an entry of catalogue.import.yaml${unpriced}`,
    );
  }
  return deployment;
}

const lastPart = (model: string) => model.slice(model.lastIndexOf('/') + 1);

function ownPrice(params: Fields, info: Fields): Record<string, string> | null {
  const price: Record<string, string> = {};
  for (const [field, name] of Object.entries(priceFields)) {
    const figure = perMillion(params[field] ?? info[field]);
    if (figure !== null) price[name] = figure;
  }
  return price.input !== undefined && price.output !== undefined ? price : null;
}

function reportRest({ report }: ModelEntries, entry: Fields, params: Fields, info: Fields, field: string): void {
  for (const name of Object.keys(params)) {
    const path = `${field}.litellm_params.${name}`;
    if (ownFields.has(name) && name !== 'api_version') continue;
    if (name in priceFields) report.taken(path, 'a price of catalogue.import.yaml');
    else if (requestFields.has(name)) report.taken(path, 'a default of the name');
    else if (name === 'api_version') report.changed(path, 'left out: the address without a version is used');
    else if (/^(aws|vertex)_/.test(name)) report.notTaken(path, cloudCredential(name));
    else report.notTaken(path, whyNot[name] ?? 'has no counterpart');
  }
  for (const name of Object.keys(info)) {
    const path = `${field}.model_info.${name}`;
    if (name in priceFields) report.taken(path, 'a price of catalogue.import.yaml');
    else if (name === 'base_model' || name === 'mode' || name === 'id') report.taken(path);
    else report.changed(path, 'left out: the catalogue says it');
  }
  for (const name of Object.keys(entry)) {
    if (!['model_name', 'litellm_params', 'model_info'].includes(name)) {
      report.notTaken(`${field}.${name}`, 'has no counterpart');
    }
  }
}

function cloudCredential(name: string): string {
  return name.startsWith('aws_')
    ? 'Amazon credentials come from the environment (AWS_BEARER_TOKEN_BEDROCK, or the usual chain), the region from the route'
    : 'Google credentials come from the environment (GOOGLE_APPLICATION_CREDENTIALS, GOOGLE_CLOUD_PROJECT), the location from the route';
}

/** The name for all entries of it: one model at several providers, or the first model with the others as its chain. */
export function nameOf(
  deployments: readonly Deployment[],
  defaults: Fields,
  note: string,
): { plan: NamePlan; changed: string | null } {
  const ids = [...new Set(deployments.map(({ id }) => id))];
  const models = [...new Set(deployments.map(({ canonicalId }) => canonicalId))];
  const more = { ...(Object.keys(defaults).length > 0 && { defaults }), note };
  if (ids.length === 1) return { plan: { model: ids[0]!, ...more }, changed: null };
  if (models.length === 1) {
    const only = [...new Set(deployments.map(({ provider }) => provider))];
    return { plan: { model: `auto/${models[0]}`, provider: { only }, ...more }, changed: null };
  }
  const [first, ...rest] = ids;
  return {
    plan: { model: first!, fallback: { models: rest }, ...more },
    changed: `different models under one name: \`${first}\`, then ${rest.map((id) => `\`${id}\``).join(', ')} where it fails`,
  };
}

/** The fields of `litellm_params` that become defaults of the name. */
export function defaultsOf(params: Fields): Fields {
  return Object.fromEntries(
    Object.entries(params).filter(([name, value]) => requestFields.has(name) && value !== null),
  );
}

/** `openai/*`: a name for each model of the provider. */
export function wildcardNames(
  { book }: ModelEntries,
  pattern: string,
  stated: string,
): { name: string; model: string }[] | null {
  const { name, model } = splitModel(stated, null);
  if (!pattern.includes('*') || model !== '*') return null;
  const provider = providerIds[name] ?? name;
  const seen = new Set<string>();
  return listOf(book.routesOf(provider)).flatMap((route) => {
    const { upstreamModel } = route as { upstreamModel: string };
    if (seen.has(upstreamModel)) return [];
    seen.add(upstreamModel);
    return [{ name: pattern.replace('*', upstreamModel), model: `${name}/${upstreamModel}` }];
  });
}
