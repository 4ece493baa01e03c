/** The nouns of the catalogue, as the request path sees them: immutable, resolved, with what does not change precomputed. */

export type Dialect = 'openai' | 'anthropic' | 'gemini' | 'bedrock' | 'azure' | 'sandbox';

/** What a call shows: the provider's key, nothing, a signature of AWS, or a token of Google. */
export type Auth = 'key' | 'none' | 'aws' | 'google';

/** `json_object` and `json_schema` are for routes that can apply one form of `response_format` only. */
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
 * Parameters of a request that change how a model writes and not what is asked of it. Where a model does not take one, it is
 * not sent: an answer without it is worth more than a refusal.
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
export type DroppableParameter = (typeof droppableParameters)[number];

/** Within which bounds the provider says that it processes a request of a route. */
export const processingScopes = ['region', 'eu', 'us', 'global', 'unspecified', 'operator'] as const;
export type ProcessingScope = (typeof processingScopes)[number];

export interface Provider {
  readonly id: string;
  readonly name: string;
  readonly dialect: Dialect;
  /** As it is written in the catalogue where it names variables that are absent. */
  readonly baseUrl: string;
  /** The credential in use; null where there is none. */
  readonly apiKey: string | null;
  /** By what its calls are made; absent is the same as `key`. A key, where there is one, wins over a cloud's own chain. */
  readonly auth?: Auth;
  /** Has an address, and a credential or needs none (`auth: none`) or a cloud's chain that can plausibly yield one. */
  readonly configured: boolean;
  /** The variable that its key is read from. */
  readonly apiKeyEnv?: string;
  /** Variables that its address names and the environment does not have. */
  readonly absentVariables?: readonly string[];
  readonly headquarters: string | null;
  /** null = not known. */
  readonly cloudAct: boolean | null;
  readonly excludedTerritories: readonly string[];
}

export interface Region {
  readonly locode: string;
  readonly city: string;
  readonly country: string;
  readonly lat: number | null;
  readonly lon: number | null;
  /** gCO2e/kWh; null = not published. */
  readonly carbon: number | null;
}

/** Pico-dollars a token, exact (a catalogue price has at most six decimals a million tokens). */
export interface Price {
  readonly input: bigint;
  readonly output: bigint;
  readonly cachedInput: bigint | null;
  /** What a request costs, as a whole, whose prompt has more tokens than this. */
  readonly above?: { readonly inputTokens: number } & Pick<Price, 'input' | 'output' | 'cachedInput'>;
  /** The list price where it is not in USD, as text, a million tokens; null where only its currency is known. */
  readonly published?: {
    readonly currency: string;
    readonly input: string | null;
    readonly output: string | null;
    readonly cachedInput: string | null;
  };
}

export interface Model {
  readonly creator: string;
  readonly model: string;
  /** `{creator}/{model}`. */
  readonly canonicalId: string;
  readonly name: string;
  /** The most that any route offers. */
  readonly contextWindow: number | null;
  readonly maxOutputTokens: number | null;
  /** In catalogue order. */
  readonly routes: readonly Route[];
}

export interface Route {
  /** The four-segment id: `{provider}/{creator}/{model}/{locode}`. */
  readonly id: string;
  /** As it is on this route: another one than the snapshot's where dialect, key, address or terms differ here. */
  readonly provider: Provider;
  readonly model: Model;
  /** Lower case; `global` for the region-less endpoint. */
  readonly locode: string;
  readonly country: string | null;
  /** This provider's default region for the model. */
  readonly isDefault: boolean;
  readonly upstreamModel: string;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  /** null = not published: the route cannot be served. */
  readonly price: Price | null;
  readonly carbon: number | null;
  readonly capabilities: ReadonlySet<Capability>;
  /** Not sent on this route; undefined where the catalogue says nothing about it. */
  readonly unsupportedParameters?: readonly DroppableParameter[];
  readonly dailyTokenQuota: number | null;
  readonly streamUsage: boolean;
  /** The provider counts reasoning in the total of its usage only; absent = it does not. */
  readonly hiddenReasoning?: boolean;
  /** Absent = not known. */
  readonly processing?: ProcessingScope;
  /** The route's own limits where it has any, else the model's; null = not published. */
  readonly contextWindow: number | null;
  readonly maxOutputTokens: number | null;
}

/** Swapped whole; a request uses one snapshot from start to end. */
export interface Snapshot {
  readonly loadedAt: number;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly regions: ReadonlyMap<string, Region>;
  /** By canonical id. */
  readonly models: ReadonlyMap<string, Model>;
  /** By four-segment id. */
  readonly routes: ReadonlyMap<string, Route>;
  /** Upstream model name → canonical ids that it maps to, per provider: `{provider} {upstream_model}`. */
  readonly upstreamModels: ReadonlyMap<string, ReadonlySet<string>>;
}

export type ModelState = 'available' | 'soft_disabled' | 'disabled';

export interface ModelAvailability {
  readonly state: ModelState;
  readonly reason: string | null;
}
