/** The `usage` of an answer as JSON text: the upstream's own members where it gave any, with our cost (contract 4.1). */
import { type PicoUsd, usdText } from '../base/money.js';
import type { TokenUsage } from './usage.js';

type Fields = Record<string, unknown>;

/** `givenText` is `given` as it was written, where that is known: then nothing has to be serialised. */
export function usageText(given: unknown, usage: TokenUsage, costPico: PicoUsd, givenText?: string): string {
  // An amount is written as it is: the exact decimal is a JSON number too.
  const cost = `"cost":${usdText(costPico)}`;
  if (isComplete(given, usage)) {
    if (givenText && given.cost === undefined) return `${givenText.slice(0, -1)},${cost}}`;
    return `${JSON.stringify({ ...given, cost: undefined }).slice(0, -1)},${cost}}`;
  }
  const { promptTokens, completionTokens, cachedTokens, reasoningTokens } = usage;
  const figures = {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  };
  return `${JSON.stringify(figures).slice(0, -1)},${cost}}`;
}

/** The upstream's own object can be passed on where it says what was billed. */
function isComplete(given: unknown, usage: TokenUsage): given is Fields {
  if (given === null || typeof given !== 'object') return false;
  const { prompt_tokens, completion_tokens, total_tokens } = given as Fields;
  const same = prompt_tokens === usage.promptTokens && completion_tokens === usage.completionTokens;
  return same && typeof total_tokens === 'number';
}
