/** `reasoning_effort` as Gemini takes it: version 2.5 takes a budget of tokens, version 3 a level. */
import { entryOf } from '../../../wire/json-text.js';
import type { Fields } from '../chat-parts/conversation.js';

/** The version in a model's name, 2.5 for `gemini-2.5-pro`; 0 where the name has none. */
export function generationOf(model: string): number {
  return Number(/gemini-(\d+(?:\.\d+)?)/i.exec(model)?.[1] ?? 0);
}

/** Whether a model may think; a name without a version is that of a newer one. */
export function thinks(model: string): boolean {
  const generation = generationOf(model);
  return generation === 0 || generation >= 2.5;
}

/** The figures of Google's own OpenAI-compatible endpoint. */
const budgets: Record<string, number> = { minimal: 1024, low: 1024, medium: 8192, high: 24_576 };
/** Pro models cannot switch thinking off; this is their minimum. */
const proBudgetMin = 128;
const levels: Record<string, string> = { none: 'MINIMAL', minimal: 'MINIMAL', low: 'LOW', medium: 'MEDIUM' };

/** Undefined where the client sent no effort, or where the model does not think. */
export function thinkingConfigOf(effort: string | null, model: string): Fields | undefined {
  const generation = generationOf(model);
  if (effort === null || !thinks(model)) return undefined;
  const isPro = /-pro\b/i.test(model);
  if (generation === 2.5) {
    if (effort === 'none') return { thinkingBudget: isPro ? proBudgetMin : 0 };
    return { thinkingBudget: entryOf(budgets, effort) ?? budgets.high, includeThoughts: true };
  }
  const level = entryOf(levels, effort) ?? 'HIGH';
  // The lowest level of a pro model is LOW.
  const thinkingLevel = isPro && level === 'MINIMAL' ? 'LOW' : level;
  return effort === 'none' ? { thinkingLevel } : { thinkingLevel, includeThoughts: true };
}
