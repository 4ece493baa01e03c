/** `reasoning_effort` in the words of a model's maker: Converse passes them on without knowing them. */
import { thinkingOf } from '../anthropic/thinking.js';
import type { Fields } from '../chat-parts/items.js';

export interface Effort {
  /** For `additionalModelRequestFields`. */
  additional?: Fields;
  /** For `outputConfig`, where Converse has a word of its own. */
  effort?: string;
}

/** `thoughtsLost` is Claude's: see anthropic/thinking. */
export function effortOf(effort: string | null, model: string, maxTokens: number, thoughtsLost: boolean): Effort {
  if (effort === null) return {};
  if (/claude/i.test(model)) {
    const { thinking, effort: level } = thinkingOf(effort, model, maxTokens, thoughtsLost);
    return { additional: { thinking, ...(level !== undefined && { output_config: { effort: level } }) } };
  }
  if (/gpt-oss/i.test(model)) return { additional: { reasoning_effort: effort } };
  if (/nova-2/i.test(model)) return { additional: { reasoningConfig: novaReasoning(effort) } };
  return { effort };
}

function novaReasoning(effort: string): Fields {
  if (effort === 'none') return { type: 'disabled' };
  const level = effort === 'low' || effort === 'medium' ? effort : effort === 'minimal' ? 'low' : 'high';
  return { type: 'enabled', maxReasoningEffort: level };
}
