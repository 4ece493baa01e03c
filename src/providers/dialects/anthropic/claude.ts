/**
 * What a Claude model accepts, by the version in its name, whatever the platform writes around the name. Bedrock serves the same
 * models, so its dialect uses this too.
 */
import type { Fields } from '../chat-parts/conversation.js';

interface ClaudeTraits {
  /** Takes a token budget for thinking. Later models take an effort instead; no model takes both. */
  readonly takesBudget: boolean;
  /** Rejects `temperature` and `top_p` in one request. */
  readonly samplesByOne: boolean;
  /** Parameters that it rejects, for routes where the catalogue does not say. */
  readonly unsupported: readonly string[];
}

const unknownModel: ClaudeTraits = { takesBudget: false, samplesByOne: false, unsupported: [] };
const known = new Map<string, ClaudeTraits>();

/** `claude-3-7-sonnet-…`, `claude-sonnet-4-…`, `claude-opus-4.5`, `eu.anthropic.claude-fable-5-v1:0`. */
export function claudeTraits(model: string): ClaudeTraits {
  let traits = known.get(model);
  if (traits === undefined) {
    traits = traitsOf(model);
    known.set(model, traits);
  }
  return traits;
}

const sampling = ['temperature', 'top_p', 'top_k'];

function traitsOf(model: string): ClaudeTraits {
  const match = /claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2})(?!\d))?/i.exec(model);
  if (!match) return unknownModel;
  const version = Number(match[1]) * 100 + Number(match[2] ?? 0);
  return { takesBudget: version < 406, samplesByOne: version >= 401, unsupported: version >= 407 ? sampling : [] };
}

export interface Thinking {
  thinking?: Fields;
  /** Goes into `output_config`. */
  effort?: string;
}

/** Shares of `max_tokens`, which includes the thinking. */
const budgetShares: Record<string, number> = { minimal: 0.1, low: 0.2, medium: 0.5, high: 0.8, xhigh: 0.95, max: 0.95 };
const budgetMin = 1024;

/**
 * `reasoning_effort` in the model's own terms: a token budget up to version 4.5, an effort from 4.6 on. With a budget, a round of
 * tool calls must begin with thinking, which most clients do not send back: with `thoughtsLost` the round continues without.
 */
export function thinkingOf(effort: string | null, model: string, maxTokens: number, thoughtsLost: boolean): Thinking {
  if (effort === null) return {};
  if (effort === 'none') return { thinking: { type: 'disabled' } };
  if (!claudeTraits(model).takesBudget) {
    return {
      thinking: { type: 'adaptive', display: 'summarized' },
      effort: effort === 'minimal' ? 'low' : effort,
    };
  }
  if (thoughtsLost) return {};
  const budget = Math.max(budgetMin, Math.floor(maxTokens * (budgetShares[effort] ?? 0.5)));
  // With too few tokens for thinking and an answer, the model answers without thinking.
  return budget < maxTokens ? { thinking: { type: 'enabled', budget_tokens: budget } } : {};
}
