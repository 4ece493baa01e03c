/** Usage and reasons to stop, in OpenAI's terms. */
import { isMissing, sum } from '../messages/figures.js';
import { type Fields, isFields } from '../messages/items.js';

const finishReasons: Record<string, string> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  guardrail_intervened: 'content_filter',
  content_filtered: 'content_filter',
};

/** What is not in the table ended of its own accord. */
export function finishReasonOf(stopReason: unknown): string {
  return (typeof stopReason === 'string' && finishReasons[stopReason]) || 'stop';
}

/** The model wrote what cannot be read: no answer, where there is nothing else (wire 5). */
export function isBrokenOutput(stopReason: unknown): boolean {
  return typeof stopReason === 'string' && stopReason.startsWith('malformed_');
}

/** `inputTokens` are those that were read anew (wire 5). undefined where nothing is said. */
export function usageOf(usage: unknown): Fields | undefined {
  if (!isFields(usage) || isMissing(usage.inputTokens) || isMissing(usage.outputTokens)) return undefined;
  const { inputTokens, outputTokens, cacheReadInputTokens, cacheWriteInputTokens } = usage;
  const prompt = sum([inputTokens, cacheReadInputTokens, cacheWriteInputTokens]);
  return {
    prompt_tokens: prompt,
    completion_tokens: outputTokens,
    total_tokens: sum([prompt, outputTokens]),
    prompt_tokens_details: {
      cached_tokens: cacheReadInputTokens ?? 0,
      cache_write_tokens: cacheWriteInputTokens ?? 0,
    },
  };
}
