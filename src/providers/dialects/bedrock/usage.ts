/** Usage and reasons to stop, in OpenAI's terms. */
import { figureOf, isMissing, sum } from '../chat-parts/figures.js';
import { type Fields, isFields } from '../chat-parts/items.js';

const finishReasons: Record<string, string> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  guardrail_intervened: 'content_filter',
  content_filtered: 'content_filter',
};

/** What is not in the table ended of its own accord; so did an answer in which only Bedrock itself ran tools. */
export function finishReasonOf(stopReason: unknown, calledTools: boolean): string {
  const reason = (typeof stopReason === 'string' && finishReasons[stopReason]) || 'stop';
  return reason === 'tool_calls' && !calledTools ? 'stop' : reason;
}

/** The model wrote what cannot be read: no answer, where there is nothing else. */
export function isBrokenOutput(stopReason: unknown): boolean {
  return typeof stopReason === 'string' && stopReason.startsWith('malformed_');
}

/**
 * `inputTokens` are those that were read anew. `tier` is the answer's `serviceTier`. undefined where the answer does not say
 * how many tokens it took.
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
    total_tokens: sum([prompt, completion]),
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

/** Tokens that were written to the cache, all of them or those that are kept for one length of time. */
function writtenIn(details: unknown, ttl?: string): unknown {
  const entries = Array.isArray(details) ? details.filter(isFields) : [];
  return sum(entries.filter((entry) => ttl === undefined || entry.ttl === ttl).map(({ inputTokens }) => inputTokens));
}

function rest(total: unknown, prompt: unknown): number | undefined {
  return typeof total === 'number' && typeof prompt === 'number' ? Math.max(total - prompt, 0) : undefined;
}
