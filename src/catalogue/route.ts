/** The nouns of the catalogue, as the request path sees them: immutable, resolved, with what does not change precomputed. */

export type Dialect = 'openai' | 'anthropic' | 'gemini' | 'bedrock' | 'azure' | 'sandbox';

/** What a call shows: the provider's key, nothing, a signature of AWS, or a token of Google. */
export type Auth = 'key' | 'none' | 'aws' | 'google';

export const capabilities = ['tools', 'vision', 'response_format', 'logprobs', 'logit_bias', 'n'] as const;
export type Capability = (typeof capabilities)[number];

export interface Provider {
  readonly id: string;
  readonly name: string;
  readonly dialect: Dialect;
  readonly baseUrl: string;
  /** The credential in use; null where there is none. */
  readonly apiKey: string | null;
  /** By what its calls are made; absent is the same as `key`. A key, where there is one, wins over a cloud's own chain. */
  readonly auth?: Auth;
  /** Has a credential, or needs none (`auth: none`), or a cloud's chain that can plausibly yield one. */
  readonly configured: boolean;
  readonly headquarters: string | null;
  /** null = not known (contract 4.5). */
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
}

export interface Model {
  readonly creator: string;
  readonly model: string;
  /** `{creator}/{model}`. */
  readonly canonicalId: string;
  readonly name: string;
  readonly contextWindow: number | null;
  readonly maxOutputTokens: number | null;
  /** In catalogue order. */
  readonly routes: readonly Route[];
}

export interface Route {
  /** The four-segment id: `{provider}/{creator}/{model}/{locode}`. */
  readonly id: string;
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
  /** null = not published: the route cannot be served (contract 3). */
  readonly price: Price | null;
  readonly carbon: number | null;
  readonly capabilities: ReadonlySet<Capability>;
  readonly dailyTokenQuota: number | null;
  readonly streamUsage: boolean;
}

/** Swapped whole; a request uses one snapshot from start to end (architecture 3). */
export interface Snapshot {
  readonly loadedAt: number;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly regions: ReadonlyMap<string, Region>;
  /** By canonical id. */
  readonly models: ReadonlyMap<string, Model>;
  /** By four-segment id. */
  readonly routes: ReadonlyMap<string, Route>;
  /** Upstream model name → canonical ids that it maps to, per provider: `{provider} {upstream_model}` (ruling 10). */
  readonly upstreamModels: ReadonlyMap<string, ReadonlySet<string>>;
}

export type ModelState = 'available' | 'soft_disabled' | 'disabled';

export interface ModelAvailability {
  readonly state: ModelState;
  readonly reason: string | null;
}
