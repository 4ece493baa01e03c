/**
 * Translates finish reasons to OpenAI's: its clients know no others, and compatible servers use many. `error` means a generation
 * that failed; clients never get it.
 */
const openai = new Set(['stop', 'length', 'tool_calls', 'content_filter', 'function_call', 'error']);

const others: readonly (readonly [meant: string, written: RegExp])[] = [
  ['error', /error|abort|cancel|fail|timeout|insufficient_system_resource/],
  ['length', /length|max_|context|token_limit|truncat/],
  ['content_filter', /sensitive|safety|filter|refus|guardrail|recitation|prohibited|blocklist|moderation/],
  ['tool_calls', /tool|function/],
];

/** Whether generation stopped in the middle of something, such as a call. */
export function isCutOff(finishReason: unknown): boolean {
  return finishReason === 'length' || finishReason === 'content_filter';
}

/** Some servers write a word where OpenAI writes null. */
const none = /^(?:null|none|undefined)?$/i;

/** Null where there is no reason. Unknown reasons mean `stop`: `eos`, `end_turn`, `stop_sequence`, … */
export function finishReasonMeant(written: unknown): string | null {
  if (typeof written !== 'string') return null;
  if (openai.has(written)) return written;
  const reason = written.trim().toLowerCase();
  if (none.test(reason)) return null;
  return others.find(([, pattern]) => pattern.test(reason))?.[0] ?? 'stop';
}
