/** Translates usage and stop reasons to OpenAI's. */

import { finishReasons } from '../../../wire/anthropic-words.js';
import { entryOf } from '../../../wire/json-text.js';
import { type Fields, isFields } from '../chat-parts/conversation.js';
import { figureOf, isMissing, sum } from '../chat-parts/figures.js';

/**
 * Reasons that are not in the table mean `stop`: `end_turn`, `stop_sequence`, `pause_turn` and future ones. So does `tool_use`
 * where only Anthropic itself ran tools. Without a reason, the presence of calls decides.
 */
export function finishReasonOf(stopReason: unknown, calledTools: boolean): string {
  if (typeof stopReason !== 'string') return calledTools ? 'tool_calls' : 'stop';
  const reason = entryOf(finishReasons, stopReason) ?? 'stop';
  return reason === 'tool_calls' && !calledTools ? 'stop' : reason;
}

/** Undefined where the answer has no token counts. */
export function usageOf(usage: unknown): Fields | undefined {
  if (!isFields(usage) || isMissing(usage.input_tokens) || isMissing(usage.output_tokens)) return undefined;
  const extra = extraIterations(usage.iterations);
  // A figure that cannot be billed is put where the usage check finds it.
  const odd = extra.flatMap((each) => [each.prompt_tokens, each.completion_tokens]).find(isOdd);
  const figures = figuresOf(usage);
  return {
    ...figures,
    ...(odd !== undefined && { prompt_tokens: odd }),
    ...(extra.length > 0 && { extra_iterations: extra }),
    ...(hasFigures(usage.server_tool_use) && { server_tool_use: usage.server_tool_use }),
    ...tierOf(usage),
  };
}

/** Fast mode has prices of its own, like a tier. */
function tierOf({ speed, service_tier }: Fields): Fields {
  if (speed === 'fast') return { service_tier: speed };
  return typeof service_tier === 'string' ? { service_tier } : {};
}

/** The prompt is the sum of new input, cache reads and cache writes. */
function figuresOf(usage: Fields): Fields {
  const { input_tokens, output_tokens, output_tokens_details, cache_creation } = usage;
  const { ephemeral_5m_input_tokens, ephemeral_1h_input_tokens } = isFields(cache_creation) ? cache_creation : {};
  const cached = usage.cache_read_input_tokens ?? 0;
  const written = usage.cache_creation_input_tokens ?? sum([ephemeral_5m_input_tokens, ephemeral_1h_input_tokens]);
  const prompt = sum([input_tokens, cached, written]);
  const thinking = isFields(output_tokens_details) ? output_tokens_details.thinking_tokens : undefined;
  return {
    prompt_tokens: prompt,
    completion_tokens: output_tokens,
    total_tokens: sum([prompt, output_tokens]),
    prompt_tokens_details: {
      cached_tokens: cached,
      cache_write_tokens: written,
      ...figureOf('cache_write_1h_tokens', ephemeral_1h_input_tokens),
    },
    ...(!isMissing(thinking) && { completion_tokens_details: { reasoning_tokens: thinking } }),
  };
}

/** Iterations that the answer's own figures include, or that were declined and are not billed. */
const included = new Set(['message', 'fallback_message']);

/** Anthropic bills further iterations, such as context compaction or an advisor, but leaves them out of the answer's own figures. */
function extraIterations(iterations: unknown): Fields[] {
  if (!Array.isArray(iterations)) return [];
  return iterations
    .filter((each): each is Fields => isFields(each) && typeof each.type === 'string' && !included.has(each.type))
    .map((each) => ({
      type: each.type,
      ...(typeof each.model === 'string' && { model: each.model }),
      ...figuresOf({ ...each, output_tokens: each.output_tokens ?? 0 }),
    }));
}

function isOdd(figure: unknown): boolean {
  return !Number.isSafeInteger(figure) || (figure as number) < 0 || (figure as number) > 10_000_000;
}

function hasFigures(value: unknown): boolean {
  return isFields(value) && Object.values(value).some((figure) => figure !== 0);
}
