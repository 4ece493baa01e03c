/** The types of the catalogue as requests use them: immutable and fully resolved. */
import type { DataPolicy, DataPolicyInForce, Quantization } from '../base/data-policy.js';
import type { ProviderKey } from '../base/provider-key.js';
import type { Life } from './life.js';
import type { Price } from './price.js';
import type { Provenance } from './provenance.js';

/** How a call authenticates: with the provider's key, not at all, with an AWS signature, or with a Google access token. */
export type Auth = 'key' | 'none' | 'aws' | 'google';

/** What the catalogue must know about a dialect to check the entries that name it. */
export interface DialectRules {
  /** False where the provider runs inside this process and has no address. */
  readonly needsBaseUrl: boolean;
  /** Whether calls can be signed with AWS credentials (`auth: aws`). */
  readonly canSign: boolean;
  /** How calls authenticate where the entry does not say. */
  defaultAuth(baseUrl: string): Auth;
}

/** By the name that an entry uses. */
export type DialectList = Readonly<Record<string, DialectRules>>;

/** The client APIs that a provider may offer. */
export const apiNames = ['chat', 'messages', 'responses', 'embeddings', 'rerank'] as const;
export type ApiName = (typeof apiNames)[number];

/** What a provider may speak itself: client APIs, and the part of the Responses API that not every provider of it has. */
export const spokenApis = [...apiNames, 'compact'] as const;
export type SpokenApi = (typeof spokenApis)[number];

/** What a model does. Each kind is served at doors of its own. */
export const modelKinds = ['chat', 'embedding', 'rerank'] as const;
export type ModelKind = (typeof modelKinds)[number];

/** `json_object` and `json_schema` are for routes that support only one form of `response_format`. */
export const capabilities = [
  'tools',
  'vision',
  'response_format',
  'json_object',
  'json_schema',
  'logprobs',
  'logit_bias',
  'n',
] as const;
export type Capability = (typeof capabilities)[number];

/**
 * Parameters that change how a model writes, and not what is asked of it. They are dropped where a model does not accept them: an
 * answer without them is better than an error.
 */
export const droppableParameters = [
  'temperature',
  'top_p',
  'top_k',
  'frequency_penalty',
  'presence_penalty',
  'seed',
  'stop',
  'parallel_tool_calls',
  'reasoning_effort',
] as const;
type DroppableParameter = (typeof droppableParameters)[number];

/** Where, according to the provider, it processes the requests of a route. */
export const processingScopes = ['region', 'eu', 'us', 'global', 'unspecified', 'operator'] as const;
type ProcessingScope = (typeof processingScopes)[number];

export interface Provider {
  readonly id: string;
  readonly name: string;
  readonly dialect: string;
  /** The client APIs that it speaks itself; undefined where the catalogue does not say, and the dialect decides. */
  readonly apis?: readonly SpokenApi[];
  /** Clients may name what the provider keeps for the operator's account. */
  readonly storedObjects?: true;
  /** The text of the catalogue where variables in it are absent. */
  readonly baseUrl: string;
  /** The address with the variables in it; absent where there are none. */
  readonly writtenUrl?: string;
  /** The credential in use; null where there is none. */
  readonly apiKey: string | null;
  /** Several credentials, of which each call takes one: on a route, those for its model. `apiKey` is then the first of them. */
  readonly keys?: readonly ProviderKey[];
  /** How its calls authenticate; absent = `key`. A key wins over a cloud's credential chain. */
  readonly auth?: Auth;
  /** It has an address, and a credential, `auth: none`, or a credential chain that can plausibly find one. */
  readonly configured: boolean;
  /** The environment variable of its key. */
  readonly apiKeyEnv?: string;
  /** Variables in its address that the environment does not have. */
  readonly absentVariables?: readonly string[];
  readonly headquarters: string | null;
  /** null = not known. */
  readonly cloudAct: boolean | null;
  readonly excludedTerritories: readonly string[];
  /** As published, without agreements; absent = nothing is published. */
  readonly dataPolicy?: DataPolicy;
  /** Of its jurisdiction and its excluded territories; absent = the catalogue does not say. */
  readonly provenance?: Provenance;
}

export interface Region {
  readonly locode: string;
  readonly city: string;
  readonly country: string;
  readonly lat: number | null;
  readonly lon: number | null;
  /** gCO2e/kWh; null = not published. */
  readonly carbon: number | null;
  readonly provenance?: Provenance;
}

export interface Model {
  readonly creator: string;
  readonly model: string;
  /** `{creator}/{model}`. */
  readonly canonicalId: string;
  readonly name: string;
  /** Absent = chat. */
  readonly kind?: ModelKind;
  /** The length of an embedding model's vectors; absent = not published. */
  readonly dimensions?: number;
  /** It has vectors of one length only; absent = it may have others. */
  readonly fixedDimensions?: true;
  readonly maxInputTokens?: number;
  /** The largest of all routes. */
  readonly contextWindow: number | null;
  readonly maxOutputTokens: number | null;
  /** From the creator's terms; the providers of the routes have them too. */
  readonly excludedTerritories?: readonly string[];
  /** Absent = the catalogue says nothing of it. */
  readonly life?: Life;
  readonly provenance?: Provenance;
  /** In catalogue order. */
  readonly routes: readonly Route[];
}

/** The credential of an account or a project that a candidate is called with. */
export interface RouteCredential {
  readonly id: string;
  readonly owner: 'project' | 'account';
  /** Its own name. */
  readonly name: string;
  readonly use: 'only' | 'first' | 'last';
  /** Names the credential and its secret. */
  readonly secretKey: string;
  /** What its breaker, holds and latency on this route are kept under, apart from those of the route. */
  readonly healthKey: string;
  /** What an answer costs besides: the operator's fee. */
  readonly fee: Fee;
}

/** What the operator takes for an answer that a customer's own credential has paid for. */
export interface Fee {
  /** Of the list price, in units of 10⁻¹² percent. */
  readonly percent: bigint;
  readonly perRequestPico: bigint;
}

export interface Route {
  /** The four-segment id: `{provider}/{creator}/{model}/{locode}`. */
  readonly id: string;
  /** Differs from the snapshot's provider where this route has its own dialect, key, address or terms. */
  readonly provider: Provider;
  /** Absent = the operator's. A candidate with another one is derived from the route of the catalogue, and has its id. */
  readonly credential?: RouteCredential;
  readonly model: Model;
  /** In lower case; `global` for an endpoint without a region. */
  readonly locode: string;
  readonly country: string | null;
  /** This provider's default region for the model. */
  readonly isDefault: boolean;
  readonly upstreamModel: string;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  /** The address as the catalogue has it, where variables are in it; absent = there are none. */
  readonly writtenUrl?: string;
  /** null = not published: the route cannot be served. */
  readonly price: Price | null;
  readonly carbon: number | null;
  readonly capabilities: ReadonlySet<Capability>;
  /** Parameters that are dropped on this route; undefined where the catalogue does not say. */
  readonly unsupportedParameters?: readonly DroppableParameter[];
  readonly dailyTokenQuota: number | null;
  /** The most inputs that one call for embeddings takes; absent = as the dialect has it. */
  readonly maxBatch?: number;
  readonly streamUsage: boolean;
  /** It takes requests of the Responses API alone. */
  readonly responsesOnly?: true;
  /** The provider counts reasoning only in the total of its usage. */
  readonly hiddenReasoning?: boolean;
  /** Absent = not known. */
  readonly processing?: ProcessingScope;
  /** As in force, with the agreement of whose credential it is called with; absent = nothing is known. */
  readonly dataPolicy?: DataPolicyInForce;
  /** As published, where an agreement of the operator is in force; absent = as `dataPolicy`. */
  readonly publishedPolicy?: DataPolicyInForce | null;
  /** Absent = not known. */
  readonly quantization?: Quantization;
  /** The route's own limits where it has any, else the model's; null = not published. */
  readonly contextWindow: number | null;
  readonly maxOutputTokens: number | null;
  /** With what the model has, where the route does not state its own. */
  readonly life?: Life;
  /** Of what the route states itself; its price may have its own. */
  readonly provenance?: Provenance;
}

/** Replaced as a whole; a request uses one snapshot from start to end. */
export interface Snapshot {
  readonly loadedAt: number;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly regions: ReadonlyMap<string, Region>;
  /** By canonical id. */
  readonly models: ReadonlyMap<string, Model>;
  /** By four-segment id. */
  readonly routes: ReadonlyMap<string, Route>;
  /** Routes that were taken out of the maps above because they are retired, by four-segment id; absent where none was. */
  readonly retired?: ReadonlyMap<string, Route>;
  /** The canonical ids of each upstream model name, by `{provider} {upstream_model}`. */
  readonly upstreamModels: ReadonlyMap<string, ReadonlySet<string>>;
  /** OpenRouter's ids and fields are known; absent where they are not. */
  readonly openRouter?: true;
}

type ModelState = 'available' | 'soft_disabled' | 'disabled';

export interface ModelAvailability {
  readonly state: ModelState;
  readonly reason: string | null;
}
