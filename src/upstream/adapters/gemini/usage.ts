/** Usage and reasons to finish, in OpenAI's terms. */
import { isMissing, sum } from '../messages/figures.js';
import { type Fields, isFields } from '../messages/items.js';

const filtered =
  /^(?:SAFETY|RECITATION|BLOCKLIST|PROHIBITED_CONTENT|SPII|LANGUAGE|MODEL_ARMOR|OTHER|IMAGE_\w+|NO_IMAGE)$/;

/** Gemini says STOP for tool calls too (wire 4). What is not known ended of its own accord. */
export function finishReasonOf(finishReason: string, calledTools: boolean): string {
  if (finishReason === 'MAX_TOKENS') return 'length';
  if (filtered.test(finishReason)) return 'content_filter';
  return calledTools ? 'tool_calls' : 'stop';
}

/** The model wrote a call that cannot be read: no answer, where there is nothing else (wire 4). */
export function isBrokenCall(finishReason: unknown): boolean {
  return typeof finishReason === 'string' && /^(?:MALFORMED|UNEXPECTED|TOO_MANY)_/.test(finishReason);
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
      ...modality(usage.promptTokensDetails, 'AUDIO', 'audio_tokens'),
    },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      ...modality(usage.candidatesTokensDetails, 'AUDIO', 'audio_tokens'),
      ...modality(usage.candidatesTokensDetails, 'IMAGE', 'image_tokens'),
      ...modality(usage.candidatesTokensDetails, 'VIDEO', 'video_tokens'),
    },
  };
}

/** The total tells where the answer's own figure is missing. */
function completionOf({ candidatesTokenCount, thoughtsTokenCount, totalTokenCount }: Fields, prompt: unknown): unknown {
  const said = sum([candidatesTokenCount, thoughtsTokenCount]);
  const figures = [totalTokenCount, prompt, said];
  if (!isMissing(candidatesTokenCount) || !figures.every((figure) => typeof figure === 'number')) return said;
  return Math.max((totalTokenCount as number) - (prompt as number), said as number);
}

/** Tokens that may have no price, which the bill must know of (ruling 10). */
function modality(details: unknown, name: string, as: string): Fields {
  const found = Array.isArray(details)
    ? details.find((entry) => isFields(entry) && entry.modality === name)
    : undefined;
  return found ? { [as]: found.tokenCount } : {};
}
