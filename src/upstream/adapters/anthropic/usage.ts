/** Usage and reasons to stop, in OpenAI's terms. */
import { type Fields, isFields } from '../messages/items.js';

const finishReasons: Record<string, string> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};

/** What is not in the table ended of its own accord: `end_turn`, `stop_sequence`, `pause_turn`, and what is yet to come. */
export function finishReasonOf(stopReason: unknown): string {
  return (typeof stopReason === 'string' && finishReasons[stopReason]) || 'stop';
}

/** The prompt is what was read anew, what was read from the cache and what was written to it. undefined where nothing is said. */
export function usageOf(usage: unknown): Fields | undefined {
  if (!isFields(usage) || isMissing(usage.input_tokens) || isMissing(usage.output_tokens)) return undefined;
  const { input_tokens, output_tokens, output_tokens_details } = usage;
  const cached = usage.cache_read_input_tokens ?? 0;
  const written = usage.cache_creation_input_tokens ?? 0;
  const prompt = sum([input_tokens, cached, written]);
  const thinking = isFields(output_tokens_details) ? output_tokens_details.thinking_tokens : undefined;
  return {
    prompt_tokens: prompt,
    completion_tokens: output_tokens,
    total_tokens: sum([prompt, output_tokens]),
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
    ...(!isMissing(thinking) && { completion_tokens_details: { reasoning_tokens: thinking } }),
  };
}

/** A figure that is no number stays what it is, for the check of what can be billed (ruling 10). */
function sum(figures: readonly unknown[]): unknown {
  const odd = figures.find((figure) => typeof figure !== 'number');
  return odd !== undefined ? odd : (figures as number[]).reduce((total, figure) => total + figure, 0);
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null;
}
