/** The providers of a LiteLLM configuration: which of the catalogue an entry means, its address and its credentials. */
import { addressTemplate } from '../../catalogue/provider-address.js';
import { type CatalogueBook, newProviderId } from './catalogue-book.js';
import type { ModelEntries } from './entries.js';
import { variableOf } from './plan.js';
import { claimSecret } from './provider-keys.js';
import { type Fields, textOf } from './values.js';

/** LiteLLM's names of providers that the catalogue has under another id. */
export const providerIds: Record<string, string> = {
  ...{ azure: 'azure', azure_ai: 'azure', azure_text: 'azure', vertex_ai: 'vertex', vertex_ai_beta: 'vertex' },
  ...{ 'vertex_ai-anthropic_models': 'vertex', gemini: 'google-ai-studio', bedrock_converse: 'bedrock' },
  ...{ converse: 'bedrock', cohere_chat: 'cohere', moonshot: 'moonshotai', codestral: 'mistral' },
  friendliai: 'friendli',
  ...{ dashscope: 'alibaba', together_ai: 'together', fireworks_ai: 'fireworks', cloudflare: 'cloudflare' },
  ...{ hosted_vllm: 'vllm', ollama_chat: 'ollama', text_completion_openai: 'openai', openai_like: 'openai' },
  ...{ 'text-completion-openai': 'openai', custom_openai: 'openai', openai_compatible: 'openai' },
};

/** Providers with OpenAI's API that LiteLLM calls by name alone, and the catalogue does not have: where they are, and whose key LiteLLM takes. */
const knownAddresses: Readonly<Record<string, { address: string; variable: string }>> = {
  aihubmix: { address: 'https://aihubmix.com/v1', variable: 'AIHUBMIX_API_KEY' },
  chutes: { address: 'https://llm.chutes.ai/v1', variable: 'CHUTES_API_KEY' },
  crusoe: { address: 'https://managed-inference-api-proxy.crusoecloud.com/v1', variable: 'CRUSOE_API_KEY' },
  github: { address: 'https://models.inference.ai.azure.com', variable: 'GITHUB_API_KEY' },
  meta_llama: { address: 'https://api.llama.com/compat/v1', variable: 'LLAMA_API_KEY' },
  'nano-gpt': { address: 'https://nano-gpt.com/api/v1', variable: 'NANOGPT_API_KEY' },
  nvidia_nim: { address: 'https://integrate.api.nvidia.com/v1', variable: 'NVIDIA_NIM_API_KEY' },
  perplexity: { address: 'https://api.perplexity.ai', variable: 'PERPLEXITYAI_API_KEY' },
  poe: { address: 'https://api.poe.com/v1', variable: 'POE_API_KEY' },
  veniceai: { address: 'https://api.venice.ai/api/v1', variable: 'VENICE_AI_API_KEY' },
  volcengine: { address: 'https://ark.cn-beijing.volces.com/api/v3', variable: 'VOLCENGINE_API_KEY' },
  wandb: { address: 'https://api.inference.wandb.ai/v1', variable: 'WANDB_API_KEY' },
};

/** A model without a provider: LiteLLM knows whose it is by its name. */
const bareModels: readonly (readonly [RegExp, string])[] = [
  [/^claude/, 'anthropic'],
  [/^((us|eu|apac|global)\.)?(amazon|anthropic|meta|mistral|cohere|ai21|deepseek)\./, 'bedrock'],
  [/^(gemini-|textembedding-gecko|text-embedding-00)/, 'vertex_ai'],
  [/^(command|embed-(english|multilingual))/, 'cohere'],
];

/** Parts between the provider and the model that say how LiteLLM calls it. */
const callParts = /^(converse|converse_like|invoke|responses|o_series|gpt5_series|openai\/responses)\//;

/** `azure/gpt-4o`, or the model alone with its provider beside it. LiteLLM takes a model without a provider for one of OpenAI. */
export function splitModel(stated: string, custom: string | null): { name: string; model: string } {
  if (custom !== null)
    return { name: custom, model: stated.startsWith(`${custom}/`) ? stated.slice(custom.length + 1) : stated };
  const slash = stated.indexOf('/');
  if (slash < 0) return { name: bareModels.find(([form]) => form.test(stated))?.[1] ?? 'openai', model: stated };
  const model = stated.slice(slash + 1).replace(callParts, '');
  return { name: stated.slice(0, slash), model };
}

interface Claim {
  readonly field: string;
  /** As the source calls the provider. */
  readonly name: string;
  readonly params: Fields;
}

export interface Claimed {
  readonly id: string;
  /** The provider of the catalogue whose models it serves. */
  readonly from: string;
  /** Whose a model is that the catalogue does not know. */
  readonly creator: string;
  /** Whether it has another address than the catalogue's. */
  readonly isElsewhere: boolean;
}

/** The provider with this address: the catalogue's own, or one more with the same dialect. null where it is not known. */
export function claimProvider(into: ModelEntries, claim: Claim): Claimed | null {
  const { book, report } = into;
  const { field, name, params } = claim;
  const baseField = textOf(params.api_base) === null ? 'base_url' : 'api_base';
  const named = textOf(params[baseField]);
  const path = `${field}.litellm_params.${baseField}`;
  const own = book.hasProvider(providerIds[name] ?? name) ? undefined : knownAddresses[name];
  const stated = named ?? own?.address ?? null;
  const known = knownProvider(book, name, stated);
  if (known === null) {
    report.notTaken(
      `${field}.litellm_params.model`,
      `the catalogue has no provider "${name.slice(0, 60)}", and no api_base says where it is: add a provider to a catalogue file`,
    );
    return null;
  }
  const address = stated === null || book.providerAt(stated) === known ? '' : addressOf(known, stated);
  if (address !== '' && !addressTemplate.safeParse(address).success) {
    report.notTaken(path, 'no http:// or https:// address without credentials and query: add the provider by hand');
    return null;
  }
  const id = providerFor(into, { known, name, address, variable: own?.variable });
  if (named !== null) {
    const words = `the address of the provider \`${id}\``;
    const suffix = address.startsWith('${') ? suffixes[known] : undefined;
    if (suffix === undefined || known === 'azure') report.taken(path, words);
    else report.changed(path, `${words}: the variable has to end with ${suffix}`);
  }
  claimSecret(into, id, params, field);
  const isStranger = known === 'openai' && name !== 'openai' && providerIds[name] === undefined;
  return { id, from: known, creator: isStranger ? name : known, isElsewhere: address !== '' };
}

/** By its name, or by an address that the catalogue has. Another with an address of its own speaks OpenAI's dialect. */
function knownProvider(book: CatalogueBook, name: string, base: string | null): string | null {
  const known = providerIds[name] ?? name;
  const at = base === null ? null : book.providerAt(base);
  if (at !== null && (known === 'openai' || !book.hasProvider(known))) return at;
  if (book.hasProvider(known)) return known;
  return base === null ? null : 'openai';
}

interface Wanted {
  readonly known: string;
  readonly name: string;
  /** Empty where it is the catalogue's. */
  readonly address: string;
  /** The variable that LiteLLM takes its key from where the source names none. */
  readonly variable: string | undefined;
}

function providerFor(into: ModelEntries, { known, name, address, variable }: Wanted) {
  const { plan, book, claimed } = into;
  const key = `${known} ${address}`;
  const there = claimed.get(key);
  if (there !== undefined) return there;
  const entry = book.providerEntry(known);
  // The operator's part of such an address is what the source says, so it needs no provider of its own.
  const isOpen = String(entry.base_url).includes('${');
  const isOwn = address !== '' && !(isOpen && !address.includes('${') && !plan.providers.has(known));
  const id = isOwn ? newProviderId(book, plan, known === 'openai' && name !== 'openai' ? name : known) : known;
  claimed.set(key, id);
  if (!plan.providers.has(id)) plan.providers.set(id, {});
  if (isOwn) {
    const { id: _id, name: _name, base_url: _url, api_key_env: _env, auth, ...facts } = entry;
    plan.catalogue.providers.push({
      ...{ id, name: `${name} (imported)`, dialect: entry.dialect ?? 'openai', base_url: address },
      ...(variable === undefined ? { auth: auth ?? 'none' } : { api_key_env: variable }),
      ...(isOpen && facts),
    });
  } else if (address !== '') plan.providers.get(id)!.base_url = address;
  return id;
}

/** What LiteLLM adds to an address by itself. */
const suffixes: Record<string, string> = { azure: '/openai/v1', anthropic: '/v1', ollama: '/v1' };

function addressOf(provider: string, base: string): string {
  const plain = base
    .replace(/^os\.environ\/([A-Za-z_][A-Za-z0-9_]*)$/, (_, name: string) => `\${${name}}`)
    .replace(/\/+$/, '');
  const suffix = suffixes[provider];
  if (suffix === undefined || plain.startsWith('${')) return plain;
  if (provider === 'azure') return plain.includes('/openai') ? plain : `${plain}${suffix}`;
  return /\/v1(\/|$)/.test(plain) ? plain : `${plain}${suffix}`;
}

/** Fields with a variable that the clouds' own credential chains read. */
const chainVariables: Record<string, string> = {
  aws_access_key_id: 'AWS_ACCESS_KEY_ID',
  aws_secret_access_key: 'AWS_SECRET_ACCESS_KEY',
  aws_session_token: 'AWS_SESSION_TOKEN',
  vertex_credentials: 'GOOGLE_APPLICATION_CREDENTIALS',
  vertex_project: 'GOOGLE_CLOUD_PROJECT',
};

/** Credentials of the clouds come from the environment, so each becomes the variable that is read there. */
export function reportCloudField({ plan, report }: ModelEntries, name: string, value: unknown, path: string): void {
  const variable = chainVariables[name];
  const text = textOf(value);
  if (variable === undefined || text === null || text.startsWith('{')) {
    const google = 'Google credentials come from the environment: name a file in GOOGLE_APPLICATION_CREDENTIALS';
    const amazon = 'Amazon credentials come from the environment: AWS_BEARER_TOKEN_BEDROCK, or the usual chain';
    return void report.notTaken(path, name.startsWith('aws_') ? amazon : google);
  }
  const named = variableOf(text);
  if (named === variable) report.taken(path, `the gateway reads ${variable}`);
  else if (named !== null) report.changed(path, `the gateway reads ${variable}: give it the value of ${named}`);
  else if ((plan.secrets.get(variable) ?? (plan.isVariable(variable) ? null : text)) !== text) {
    report.notTaken(path, `the gateway has one ${variable}, and another entry has another value`);
  } else {
    plan.secrets.set(variable, text);
    report.changed(path, `${variable} in secrets.env, which the gateway reads`);
  }
}
