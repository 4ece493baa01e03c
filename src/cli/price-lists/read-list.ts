/** Reads public lists of prices: LiteLLM's table, the api.json of models.dev, and the data of genai-prices. */
import type { Capability, ModelKind } from '../../catalogue/route.js';

/** What a list has of a model at a provider. */
export interface ListedModel {
  /** As the list calls the provider. */
  readonly provider: string;
  /** As the list writes it, without the list's own name of the provider before it. */
  readonly model: string;
  /** In lower case, with the model's other names. */
  readonly names: readonly string[];
  readonly title: string | null;
  /** Null where it is no model of a kind that the catalogue has. */
  readonly kind: ModelKind | null;
  /** USD for a million tokens, or for a request, by the name of the figure. */
  readonly figures: ReadonlyMap<string, number>;
  readonly contextWindow: number | null;
  readonly maxOutputTokens: number | null;
  readonly capabilities: readonly Capability[];
  /** It takes requests of the Responses API alone. */
  readonly responsesOnly: boolean;
  /** The list says that it is deprecated or retired. */
  readonly ended: boolean;
}

export interface PriceList {
  readonly name: 'litellm' | 'models.dev' | 'genai-prices';
  /** The day of the list. */
  readonly asOf: string;
  readonly models: readonly ListedModel[];
}

type Fields = Record<string, unknown>;

/** Undefined where the value is none of the three. `today` decides which of several dated prices holds. */
export function priceListOf(value: unknown, asOf: string, today: string): PriceList | undefined {
  if (Array.isArray(value)) {
    const models = value.flatMap((provider) => genaiModels(fieldsOf(provider), today));
    return models.length > 0 ? { name: 'genai-prices', asOf, models } : undefined;
  }
  const entries = Object.entries(fieldsOf(value));
  const isTable = entries.some(([, entry]) => 'litellm_provider' in fieldsOf(entry));
  const models = entries.flatMap(([name, entry]) =>
    isTable ? litellmModel(name, fieldsOf(entry), today) : modelsDevModels(name, fieldsOf(entry)),
  );
  return models.length > 0 ? { name: isTable ? 'litellm' : 'models.dev', asOf, models } : undefined;
}

/** The names of figures, and how LiteLLM's table calls them. */
const litellmClasses: Readonly<Record<string, string>> = {
  input: 'input_cost_per_token',
  output: 'output_cost_per_token',
  cached_input: 'cache_read_input_token_cost',
  cache_write: 'cache_creation_input_token_cost',
  cache_write_1h: 'cache_creation_input_token_cost_above_1hr',
  input_audio: 'input_cost_per_audio_token',
  output_audio: 'output_cost_per_audio_token',
};
const litellmKinds: Readonly<Record<string, ModelKind>> = {
  chat: 'chat',
  responses: 'chat',
  embedding: 'embedding',
  rerank: 'rerank',
};
const litellmBands = [128, 200, 256, 272, 512];
const litellmTiers = ['flex', 'priority'];

function litellmModel(name: string, entry: Fields, today: string): ListedModel[] {
  const figures = new Map<string, number>();
  const addFigure = (figure: string, field: string, times = 1e6) => {
    if (isPrice(entry[field])) figures.set(figure, entry[field] * times);
  };
  for (const [figure, field] of Object.entries(litellmClasses)) {
    addFigure(figure, field);
    for (const band of litellmBands) addFigure(`above ${band}k ${figure}`, `${field}_above_${band}k_tokens`);
    for (const tier of litellmTiers) addFigure(`${tier} ${figure}`, `${field}_${tier}`);
  }
  addFigure('request', 'input_cost_per_query', 1);
  const model = name.slice(name.indexOf('/') + 1);
  const endpoints = entry.supported_endpoints;
  const has = (field: string) => entry[field] === true;
  return listed({
    ...{ provider: String(entry.litellm_provider), model, names: [model.toLowerCase()], title: null, figures },
    kind: model.startsWith('ft:') ? null : (litellmKinds[String(entry.mode)] ?? null),
    contextWindow: countOf(entry.max_input_tokens),
    maxOutputTokens: countOf(entry.max_output_tokens),
    capabilities: capabilitiesOf(has('supports_function_calling'), has('supports_vision')),
    responsesOnly:
      entry.mode === 'responses' && !(Array.isArray(endpoints) && endpoints.includes('/v1/chat/completions')),
    ended: typeof entry.deprecation_date === 'string' && entry.deprecation_date <= today,
  });
}

const modelsDevClasses: Readonly<Record<string, string>> = {
  input: 'input',
  output: 'output',
  cached_input: 'cache_read',
  cache_write: 'cache_write',
  input_audio: 'input_audio',
  output_audio: 'output_audio',
};

function modelsDevModels(provider: string, entry: Fields): ListedModel[] {
  return Object.entries(fieldsOf(entry.models)).flatMap(([model, value]) => {
    const stated = fieldsOf(value);
    const cost = fieldsOf(stated.cost);
    const figures = classFigures(cost, modelsDevClasses);
    const tiers = Array.isArray(cost.tiers) ? cost.tiers.map(fieldsOf) : [];
    for (const tier of tiers) {
      const size = countOf(fieldsOf(tier.tier).size);
      if (size !== null)
        for (const each of classFigures(tier, modelsDevClasses, bandPrefix(size))) figures.set(...each);
    }
    const limit = fieldsOf(stated.limit);
    const modalities = fieldsOf(stated.modalities);
    const includes = (list: unknown, word: string) => Array.isArray(list) && list.includes(word);
    return listed({
      ...{ provider, model, names: [model.toLowerCase()], title: textOf(stated.name), figures },
      kind: modalities.output === undefined || includes(modalities.output, 'text') ? kindByName(model) : null,
      contextWindow: countOf(limit.context),
      maxOutputTokens: countOf(limit.output),
      capabilities: capabilitiesOf(stated.tool_call === true, includes(modalities.input, 'image')),
      responsesOnly: false,
      ended: stated.status === 'deprecated',
    });
  });
}

const genaiClasses: Readonly<Record<string, string>> = {
  input: 'input_mtok',
  output: 'output_mtok',
  cached_input: 'cache_read_mtok',
  cache_write: 'cache_write_mtok',
  cache_write_1h: 'cache_write_1h_mtok',
  input_audio: 'input_audio_mtok',
  output_audio: 'output_audio_mtok',
};

function genaiModels({ id, models }: Fields, today: string): ListedModel[] {
  if (!Array.isArray(models)) return [];
  return models.map(fieldsOf).flatMap((stated) => {
    const prices = genaiPrices(stated.prices, today);
    const figures = classFigures(prices, genaiClasses);
    for (const [figure, field] of Object.entries(genaiClasses)) {
      const { base, tiers } = fieldsOf(prices[field]);
      if (isPrice(base)) figures.set(figure, base);
      for (const { start, price } of Array.isArray(tiers) ? tiers.map(fieldsOf) : []) {
        if (isPrice(price) && typeof start === 'number') figures.set(`${bandPrefix(start)}${figure}`, price);
      }
    }
    const model = String(stated.id);
    return listed({
      ...{ provider: String(id), model, names: genaiNames(model, stated.match), title: textOf(stated.name), figures },
      kind: kindByName(model),
      contextWindow: countOf(stated.context_window),
      maxOutputTokens: null,
      capabilities: [],
      responsesOnly: false,
      ended: stated.deprecated === true,
    });
  });
}

/** Of several dated prices the last that has begun. Prices that depend on the time of day are left out. */
function genaiPrices(prices: unknown, today: string): Fields {
  if (!Array.isArray(prices)) return fieldsOf(prices);
  let current: Fields = {};
  for (const { constraint, prices: stated } of prices.map(fieldsOf)) {
    const { start_date: from } = fieldsOf(constraint);
    if (constraint !== undefined && constraint !== null && typeof from !== 'string') return {};
    if (from === undefined || String(from) <= today) current = fieldsOf(stated);
  }
  return current;
}

/** The names that its rules spell out. A rule for the beginning of a name would also take in the model's successors. */
function genaiNames(model: string, match: unknown): string[] {
  const { or, equals, starts_with: start } = fieldsOf(match);
  const literal = [equals, start].filter((text) => typeof text === 'string');
  const names = Array.isArray(or) ? or.flatMap((rule) => genaiNames(model, rule)) : [];
  return [...new Set([model, ...literal, ...names].map((name) => name.toLowerCase()))];
}

function classFigures(from: Fields, classes: Readonly<Record<string, string>>, prefix = ''): Map<string, number> {
  const figures = new Map<string, number>();
  for (const [figure, field] of Object.entries(classes)) {
    if (isPrice(from[field])) figures.set(`${prefix}${figure}`, from[field]);
  }
  return figures;
}

/** Begins the names of the figures of a band. Lists and providers differ on whether the bound itself belongs to it. */
export function bandPrefix(tokens: number): string {
  return `above ${Math.round(tokens / 1000)}k `;
}

const embeddingName = /embed|\bbge\b|(^|[-/])e5-|gte-/i;
const otherName =
  /whisper|tts|speech|transcri|image|dall-e|moderation|realtime|-ocr|video|audio|translate|guard|diffusion|davinci|babbage/i;

function kindByName(model: string): ModelKind | null {
  if (/rerank/i.test(model)) return 'rerank';
  if (embeddingName.test(model)) return 'embedding';
  return otherName.test(model) ? null : 'chat';
}

function capabilitiesOf(tools: boolean, vision: boolean): Capability[] {
  return [...(tools ? (['tools'] as const) : []), ...(vision ? (['vision'] as const) : [])];
}

/** A model without any price says nothing, and one whose prices are zero is no offer that is sold. */
function listed(model: ListedModel): ListedModel[] {
  return model.figures.has('input') || model.figures.has('request') ? [model] : [];
}

/** Lists write zero for a charge that they do not know. */
function isPrice(value: unknown): value is number {
  return typeof value === 'number' && value > 0;
}

function countOf(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : null;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
