/**
 * `reasoning_effort` in the words that a model understands: up to version 4.5 a budget of tokens, from 4.6 on an effort, with
 * which the model decides itself how much it thinks. Neither understands the other's.
 */
import type { Fields } from '../chat-parts/items.js';
import { claudeTraits } from './claude.js';

export interface Thinking {
  thinking?: Fields;
  /** For `output_config`. */
  effort?: string;
}

/** Parts of `max_tokens`, which thinking is counted in. */
const budgetShares: Record<string, number> = { minimal: 0.1, low: 0.2, medium: 0.5, high: 0.8, xhigh: 0.95, max: 0.95 };
const budgetMin = 1024;

/**
 * A budget demands that a round of tool calls began with thoughts, and most clients do not send them back: with
 * `thoughtsLost` such a round goes on without thinking. With an effort nothing of the kind is demanded.
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
  // An answer too short to think before it is answered without thinking.
  return budget < maxTokens ? { thinking: { type: 'enabled', budget_tokens: budget } } : {};
}
