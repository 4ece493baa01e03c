/** Writes the `usage` of an answer as JSON text: the upstream's own members with the figures that are billed, and our cost. */
import { type PicoUsd, usdText } from '../base/money.js';
import type { TokenUsage } from './usage.js';

type Fields = Record<string, unknown>;

/** `givenText` is `given` as it was written, where that is known: then nothing has to be serialised. */
export function usageText(given: unknown, usage: TokenUsage, costPico: PicoUsd, givenText?: string): string {
  // An amount is written as it is: the exact decimal is a JSON number too.
  const cost = `"cost":${usdText(costPico)}`;
  const own = fieldsOf(given);
  if (saysWhatIsBilled(own, usage)) {
    if (givenText && own.cost === undefined) return `${givenText.slice(0, -1)},${cost}}`;
    return `${JSON.stringify({ ...own, cost: undefined }).slice(0, -1)},${cost}}`;
  }
  const { promptTokens, completionTokens, cachedTokens, reasoningTokens } = usage;
  const figures = {
    ...own,
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens, ...withoutGaps(own.prompt_tokens_details) },
    completion_tokens_details: { reasoning_tokens: reasoningTokens, ...withoutGaps(own.completion_tokens_details) },
    cost: undefined,
  };
  return `${JSON.stringify(figures).slice(0, -1)},${cost}}`;
}

/**
 * The upstream's own object can be passed on where a client reads from it what is billed. Parts that the upstream itself gives
 * under OpenAI's names stay as it wrote them, even where the bill bounds them by their whole.
 */
function saysWhatIsBilled(own: Fields, { promptTokens, completionTokens, cachedTokens }: TokenUsage): boolean {
  return (
    own.prompt_tokens === promptTokens &&
    own.completion_tokens === completionTokens &&
    own.total_tokens === promptTokens + completionTokens &&
    (cachedTokens === 0 || typeof fieldsOf(own.prompt_tokens_details).cached_tokens === 'number')
  );
}

/** The details that the upstream gave; what it left open is filled by what is billed. */
function withoutGaps(details: unknown): Fields {
  return Object.fromEntries(Object.entries(fieldsOf(details)).filter(([, value]) => value !== null));
}

function fieldsOf(value: unknown): Fields {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Fields) : {};
}
