/** Translates usage and finish reasons to OpenAI's. */

import { entryOf } from '../../../wire/json-text.js';
import { type Fields, isFields } from '../chat-parts/conversation.js';
import { isMissing, sum, totalOf } from '../chat-parts/figures.js';

const filtered =
  /^(?:SAFETY|RECITATION|BLOCKLIST|PROHIBITED_CONTENT|SPII|LANGUAGE|MODEL_ARMOR|OTHER|IMAGE_\w+|NO_IMAGE)$/;

/** `CONTINUATION` is an answer that Google continues in another request, so it is incomplete. */
const cutShort = /^(?:MAX_TOKENS|CONTINUATION)$/;

/** Some events of a stream have a finish reason without meaning. */
export function finishes(finishReason: unknown): finishReason is string {
  return typeof finishReason === 'string' && finishReason !== '' && finishReason !== 'FINISH_REASON_UNSPECIFIED';
}

/** Gemini uses STOP for tool calls too. Unknown and missing reasons mean `stop`. */
export function finishReasonOf(finishReason: unknown, calledTools: boolean): string {
  const reason = finishes(finishReason) ? finishReason : 'STOP';
  if (cutShort.test(reason)) return 'length';
  if (filtered.test(reason)) return 'content_filter';
  return calledTools ? 'tool_calls' : 'stop';
}

/** The model wrote a malformed or unsigned call. Without any other content this is not an answer. */
export function isBrokenCall(finishReason: unknown): boolean {
  return typeof finishReason === 'string' && /^(?:MALFORMED|UNEXPECTED|TOO_MANY|MISSING)_/.test(finishReason);
}

/**
 * Thoughts are counted separately from the answer, and input of Google's own tools separately from the prompt. A figure of 0 may
 * be missing. Undefined where there are no figures.
 */
export function usageOf(usage: unknown): Fields | undefined {
  if (!isFields(usage) || (isMissing(usage.promptTokenCount) && isMissing(usage.totalTokenCount))) return undefined;
  const prompt = sum([usage.promptTokenCount, usage.toolUsePromptTokenCount]);
  const reasoning = usage.thoughtsTokenCount ?? 0;
  const completion = completionOf(usage, prompt);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: totalOf(usage.totalTokenCount, [prompt, completion]),
    prompt_tokens_details: {
      cached_tokens: usage.cachedContentTokenCount ?? 0,
      ...modalities([usage.promptTokensDetails, usage.toolUsePromptTokensDetails], usage.cacheTokensDetails),
    },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      ...modalities([usage.candidatesTokensDetails]),
    },
    ...tierOf(usage),
  };
}

/** Where the answer's own figure is missing, it is derived from the total. */
function completionOf({ candidatesTokenCount, thoughtsTokenCount, totalTokenCount }: Fields, prompt: unknown): unknown {
  const counted = sum([candidatesTokenCount, thoughtsTokenCount]);
  const figures = [totalTokenCount, prompt, counted];
  if (!isMissing(candidatesTokenCount) || !figures.every((figure) => typeof figure === 'number')) return counted;
  return Math.max((totalTokenCount as number) - (prompt as number), counted as number);
}

const modalityNames: Record<string, string> = { AUDIO: 'audio_tokens', IMAGE: 'image_tokens', VIDEO: 'video_tokens' };

/** Tokens that may have their own price, without those that came from a cache. Text is the rest and needs no figure. */
function modalities(lists: readonly unknown[], cached?: unknown): Fields {
  const figures: Fields = {};
  for (const { modality, tokenCount } of lists.flatMap(entriesOf)) {
    const name = modalityNames[String(modality)];
    if (name !== undefined && !isMissing(tokenCount)) figures[name] = sum([figures[name], tokenCount]);
  }
  for (const { modality, tokenCount } of entriesOf(cached)) {
    const name = modalityNames[String(modality)] ?? '';
    const whole = figures[name];
    if (typeof whole === 'number' && typeof tokenCount === 'number') figures[name] = Math.max(0, whole - tokenCount);
  }
  return figures;
}

function entriesOf(list: unknown): Fields[] {
  return Array.isArray(list) ? list.filter(isFields) : [];
}

const tiers: Record<string, string> = { ON_DEMAND_PRIORITY: 'priority', ON_DEMAND_FLEX: 'flex' };

/** Vertex names the kind of traffic, of which others have the ordinary price; AI Studio names the tier itself. */
function tierOf({ trafficType, serviceTier }: Fields): Fields {
  const tier =
    entryOf(tiers, String(trafficType)) ?? (typeof serviceTier === 'string' ? serviceTier.toLowerCase() : undefined);
  return tier === undefined ? {} : { service_tier: tier };
}
