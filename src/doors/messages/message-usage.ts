/** Writes the `usage` of a message. Token classes that the route did not report are left out. */

import { costMembers, withCost } from '../../wire/cost.js';
import type { UsageParts } from '../../wire/usage-types.js';
import { type Fields, isFields } from '../body.js';
import type { BilledUsage } from '../door.js';

/** `usage` of a translated answer, as JSON text. */
export function messageUsage({ given, usage, cost }: BilledUsage): string {
  const parts = usage as Partial<UsageParts>;
  const own: Fields = isFields(given) ? given : {};
  const inPrompt = isFields(own.prompt_tokens_details) ? own.prompt_tokens_details : {};
  const inCompletion = isFields(own.completion_tokens_details) ? own.completion_tokens_details : {};
  const written = parts.cacheWriteTokens ?? 0;
  const isReported = (figure: unknown, billed: number): boolean => typeof figure === 'number' || billed > 0;
  const figures = {
    input_tokens: usage.promptTokens - usage.cachedTokens - written,
    ...(isReported(inPrompt.cached_tokens, usage.cachedTokens) && { cache_read_input_tokens: usage.cachedTokens }),
    ...(isReported(inPrompt.cache_write_tokens, written) && { cache_creation_input_tokens: written }),
    output_tokens: usage.completionTokens,
    ...(isReported(inCompletion.reasoning_tokens, usage.reasoningTokens) && {
      output_tokens_details: { thinking_tokens: usage.reasoningTokens },
    }),
  };
  return `${JSON.stringify(figures).slice(0, -1)},${costMembers(cost)}}`;
}

/** The provider's own `usage` with the cost; without one, the billed figures. */
export function nativeUsage(text: string | undefined, billed: BilledUsage): string {
  return text?.startsWith('{') ? withCost(text, billed.cost) : messageUsage(billed);
}
