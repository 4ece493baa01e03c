/** Reads public lists of prices: LiteLLM's table, the api.json of models.dev, and the data of genai-prices. */

/** In USD for a million tokens. */
export interface ListedPrice {
  readonly provider: string;
  readonly model: string;
  readonly input: number;
  readonly output: number;
  readonly cachedInput: number | null;
}

export interface PriceList {
  readonly name: 'litellm' | 'models.dev' | 'genai-prices';
  readonly prices: readonly ListedPrice[];
}

type Fields = Record<string, unknown>;

/** Undefined where the value is none of the three. */
export function priceListOf(value: unknown): PriceList | undefined {
  if (Array.isArray(value)) {
    const prices = value.flatMap((provider) => genaiPrices(fieldsOf(provider)));
    return prices.length > 0 ? { name: 'genai-prices', prices } : undefined;
  }
  const entries = Object.entries(fieldsOf(value));
  const isTable = entries.some(([, entry]) => 'litellm_provider' in fieldsOf(entry));
  const prices = entries.flatMap(([name, entry]) =>
    isTable ? litellmPrice(name, fieldsOf(entry)) : modelsDevPrices(name, fieldsOf(entry)),
  );
  return prices.length > 0 ? { name: isTable ? 'litellm' : 'models.dev', prices } : undefined;
}

function litellmPrice(name: string, entry: Fields): ListedPrice[] {
  const perMillion = (field: string) => (typeof entry[field] === 'number' ? entry[field] * 1e6 : null);
  const model = name.slice(name.indexOf('/') + 1);
  return listed(String(entry.litellm_provider), model, {
    input: perMillion('input_cost_per_token'),
    output: perMillion('output_cost_per_token'),
    cachedInput: perMillion('cache_read_input_token_cost'),
  });
}

function modelsDevPrices(provider: string, entry: Fields): ListedPrice[] {
  return Object.entries(fieldsOf(entry.models)).flatMap(([model, stated]) => {
    const { input, output, cache_read: cachedInput } = fieldsOf(fieldsOf(stated).cost);
    return listed(provider, model, { input, output, cachedInput });
  });
}

/** A price with conditions or bands is not compared. */
function genaiPrices({ id, models }: Fields): ListedPrice[] {
  if (!Array.isArray(models)) return [];
  return models.map(fieldsOf).flatMap(({ id: model, prices }) => {
    const { input_mtok: input, output_mtok: output, cache_read_mtok: cachedInput } = fieldsOf(prices);
    return listed(String(id), String(model), { input, output, cachedInput });
  });
}

function listed(
  provider: string,
  model: string,
  { input, output, cachedInput }: { input: unknown; output: unknown; cachedInput: unknown },
): ListedPrice[] {
  if (typeof input !== 'number' || typeof output !== 'number' || input + output === 0) return [];
  return [{ provider, model, input, output, cachedInput: typeof cachedInput === 'number' ? cachedInput : null }];
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
