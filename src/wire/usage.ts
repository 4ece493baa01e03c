/** Token usage as OpenAI's dialect reports it, read with suspicion: upstreams send null, floats, strings and worse. */
import { shown } from './json-text.js';

export interface TokenUsage {
  promptTokens: number;
  completionTokens: number;
  cachedTokens: number;
  reasoningTokens: number;
}

export type UsageReading =
  | { kind: 'usage'; usage: TokenUsage }
  /** The upstream gave none that could be billed: count it ourselves. */
  | { kind: 'absent' }
  /** Ruling 10: a figure that cannot be billed. */
  | { kind: 'fault'; reason: string };

type Fields = Record<string, unknown>;

export function readUsage(value: unknown): UsageReading {
  if (value === null || value === undefined || typeof value !== 'object') return { kind: 'absent' };
  const fields = value as Fields;
  if (missing(fields.prompt_tokens) || missing(fields.completion_tokens)) return { kind: 'absent' };
  const promptDetails = details(fields.prompt_tokens_details);
  const completionDetails = details(fields.completion_tokens_details);
  const figures = {
    prompt_tokens: fields.prompt_tokens ?? 0,
    completion_tokens: fields.completion_tokens ?? 0,
    cached_tokens: promptDetails.cached_tokens ?? 0,
    reasoning_tokens: completionDetails.reasoning_tokens ?? 0,
  };
  for (const [name, figure] of Object.entries(figures)) {
    if (!Number.isSafeInteger(figure) || (figure as number) < 0) {
      return {
        kind: 'fault',
        reason: `its usage says ${name} = ${shown(figure, 'utf8').slice(0, 40)}, which is no count of tokens`,
      };
    }
  }
  const unpriced = unpricedClass(promptDetails, completionDetails);
  if (unpriced) return { kind: 'fault', reason: `its usage has ${unpriced}, for which the route has no price` };
  const usage = figures as { [name in keyof typeof figures]: number };
  if (usage.cached_tokens > usage.prompt_tokens) {
    return {
      kind: 'fault',
      reason: `its usage says ${usage.cached_tokens} cached of ${usage.prompt_tokens} prompt tokens`,
    };
  }
  return {
    kind: 'usage',
    usage: {
      promptTokens: usage.prompt_tokens,
      completionTokens: usage.completion_tokens,
      cachedTokens: usage.cached_tokens,
      reasoningTokens: usage.reasoning_tokens,
    },
  };
}

function missing(value: unknown): boolean {
  return value === undefined || value === null;
}

function details(value: unknown): Fields {
  return value !== null && typeof value === 'object' ? (value as Fields) : {};
}

/** Token classes that a route's price does not cover. */
function unpricedClass(prompt: Fields, completion: Fields): string | undefined {
  for (const name of ['audio_tokens', 'image_tokens', 'video_tokens']) {
    if (typeof completion[name] === 'number' && completion[name] !== 0) return `${completion[name]} output ${name}`;
    if (name === 'audio_tokens' && typeof prompt[name] === 'number' && prompt[name] !== 0)
      return `${prompt[name]} prompt ${name}`;
  }
  return undefined;
}
