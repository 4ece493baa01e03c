/** Translates usage and stop reasons to OpenAI's. */

import { entryOf } from '../../../wire/json-text.js';
import { type Fields, isFields } from '../chat-parts/conversation.js';
import { figureOf, isMissing, sum, totalOf } from '../chat-parts/figures.js';

const finishReasons: Record<string, string> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  guardrail_intervened: 'content_filter',
  content_filtered: 'content_filter',
};

/** Reasons that are not in the table mean `stop`; so does `tool_use` where only Bedrock itself ran tools. */
export function finishReasonOf(stopReason: unknown, calledTools: boolean): string {
  const reason = (typeof stopReason === 'string' && entryOf(finishReasons, stopReason)) || 'stop';
  return reason === 'tool_calls' && !calledTools ? 'stop' : reason;
}

/** The model wrote something that Bedrock could not parse. Without any other content this is not an answer. */
export function isBrokenOutput(stopReason: unknown): boolean {
  return typeof stopReason === 'string' && stopReason.startsWith('malformed_');
}

/**
 * `inputTokens` counts only new input, without the cache. `tier` is the answer's `serviceTier`. Undefined where the answer has no
 * token counts.
 */
export function usageOf(usage: unknown, tier: unknown): Fields | undefined {
  if (!isFields(usage) || isMissing(usage.inputTokens)) return undefined;
  const { inputTokens, outputTokens, totalTokens, cacheReadInputTokens, cacheDetails } = usage;
  const written = usage.cacheWriteInputTokens ?? writtenIn(cacheDetails);
  const prompt = sum([inputTokens, cacheReadInputTokens, written]);
  const completion = outputTokens ?? rest(totalTokens, prompt);
  if (completion === undefined) return undefined;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: totalOf(totalTokens, [prompt, completion]),
    prompt_tokens_details: {
      cached_tokens: cacheReadInputTokens ?? 0,
      cache_write_tokens: written,
      ...figureOf('cache_write_1h_tokens', writtenIn(cacheDetails, '1h')),
    },
    ...(isFields(usage.serverToolUsage) &&
      Object.keys(usage.serverToolUsage).length > 0 && { server_tool_use: usage.serverToolUsage }),
    ...(isFields(tier) && typeof tier.type === 'string' && { service_tier: tier.type }),
  };
}

/** Tokens written to the cache: all, or only those with one time to live. */
function writtenIn(details: unknown, ttl?: string): unknown {
  const entries = Array.isArray(details) ? details.filter(isFields) : [];
  return sum(entries.filter((entry) => ttl === undefined || entry.ttl === ttl).map(({ inputTokens }) => inputTokens));
}

function rest(total: unknown, prompt: unknown): number | undefined {
  return typeof total === 'number' && typeof prompt === 'number' ? Math.max(total - prompt, 0) : undefined;
}
