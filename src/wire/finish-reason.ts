/**
 * Why a generation finished, in OpenAI's words: its clients know no others (wire 0), and servers of its dialect have many. `error`
 * is ours, for a generation that was broken off: no caller ever gets it as a reason.
 */
const openai = new Set(['stop', 'length', 'tool_calls', 'content_filter', 'function_call', 'error']);

const others: readonly (readonly [meant: string, written: RegExp])[] = [
  ['error', /error|abort|cancel|fail|timeout|insufficient_system_resource/],
  ['length', /length|max_|context|token_limit/],
  ['content_filter', /sensitive|safety|filter|refus|guardrail|recitation|prohibited|blocklist|moderation/],
  ['tool_calls', /tool|function/],
];

/** What is not known ended of its own accord: `eos`, `end_turn`, `stop_sequence`, … */
export function finishReasonMeant(written: string): string {
  if (openai.has(written)) return written;
  const reason = written.toLowerCase();
  return others.find(([, pattern]) => pattern.test(reason))?.[0] ?? 'stop';
}
