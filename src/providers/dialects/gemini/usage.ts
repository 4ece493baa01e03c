/** Usage and reasons to finish, in OpenAI's terms. */
import { isMissing, sum } from '../chat-parts/figures.js';
import { type Fields, isFields } from '../chat-parts/items.js';

const filtered =
  /^(?:SAFETY|RECITATION|BLOCKLIST|PROHIBITED_CONTENT|SPII|LANGUAGE|MODEL_ARMOR|OTHER|IMAGE_\w+|NO_IMAGE)$/;

/** An answer that Google breaks off to go on with in another request is not complete. */
const cutShort = /^(?:MAX_TOKENS|CONTINUATION)$/;

/** Some events of a stream have a reason that says nothing. */
export function finishes(finishReason: unknown): finishReason is string {
  return typeof finishReason === 'string' && finishReason !== '' && finishReason !== 'FINISH_REASON_UNSPECIFIED';
}

/** Gemini says STOP for tool calls too. What is not known, or missing, ended of its own accord. */
export function finishReasonOf(finishReason: unknown, calledTools: boolean): string {
  const reason = finishes(finishReason) ? finishReason : 'STOP';
  if (cutShort.test(reason)) return 'length';
  if (filtered.test(reason)) return 'content_filter';
  return calledTools ? 'tool_calls' : 'stop';
}

/** The model wrote a call that cannot be read, or one that is not signed: no answer, where there is nothing else. */
export function isBrokenCall(finishReason: unknown): boolean {
  return typeof finishReason === 'string' && /^(?:MALFORMED|UNEXPECTED|TOO_MANY|MISSING)_/.test(finishReason);
}

/**
 * Thoughts are counted beside the answer, and what tools at Google read beside the prompt; a figure of 0 may be missing.
 * undefined where nothing is said.
 */
export function usageOf(usage: unknown): Fields | undefined {
  if (!isFields(usage) || (isMissing(usage.promptTokenCount) && isMissing(usage.totalTokenCount))) return undefined;
  const prompt = sum([usage.promptTokenCount, usage.toolUsePromptTokenCount]);
  const reasoning = usage.thoughtsTokenCount ?? 0;
  const completion = completionOf(usage, prompt);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: sum([prompt, completion]),
    prompt_tokens_details: {
      cached_tokens: usage.cachedContentTokenCount ?? 0,
      ...modalities([usage.promptTokensDetails, usage.toolUsePromptTokensDetails]),
    },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      ...modalities([usage.candidatesTokensDetails]),
    },
    ...tierOf(usage.trafficType),
  };
}

/** The total tells where the answer's own figure is missing. */
function completionOf({ candidatesTokenCount, thoughtsTokenCount, totalTokenCount }: Fields, prompt: unknown): unknown {
  const said = sum([candidatesTokenCount, thoughtsTokenCount]);
  const figures = [totalTokenCount, prompt, said];
  if (!isMissing(candidatesTokenCount) || !figures.every((figure) => typeof figure === 'number')) return said;
  return Math.max((totalTokenCount as number) - (prompt as number), said as number);
}

const modalityNames: Record<string, string> = { AUDIO: 'audio_tokens', IMAGE: 'image_tokens', VIDEO: 'video_tokens' };

/** Tokens that may have a price of their own. Text needs no figure: it is the rest. */
function modalities(lists: readonly unknown[]): Fields {
  const entries = lists.flatMap((list) => (Array.isArray(list) ? list.filter(isFields) : []));
  const figures: Fields = {};
  for (const { modality, tokenCount } of entries) {
    const name = modalityNames[String(modality)];
    if (name !== undefined && !isMissing(tokenCount)) figures[name] = sum([figures[name], tokenCount]);
  }
  return figures;
}

const tiers: Record<string, string> = { ON_DEMAND_PRIORITY: 'priority', ON_DEMAND_FLEX: 'flex' };

/** The other kinds of traffic are what was asked for, at the ordinary price. */
function tierOf(trafficType: unknown): Fields {
  const tier = tiers[String(trafficType)];
  return tier === undefined ? {} : { service_tier: tier };
}
