import { expect, it } from 'vitest';
import { finishReasonMeant } from './finish-reason.js';

it.each([
  ...['stop', 'length', 'tool_calls', 'content_filter', 'function_call', 'error'].map((same) => [same, same]),
  ...['eos', 'eos_token', 'end_turn', 'stop_sequence', 'COMPLETE'].map((written) => [written, 'stop']),
  ...['model_length', 'max_tokens', 'MAX_TOKENS', 'context_window_exceeded'].map((written) => [written, 'length']),
  ...['sensitive', 'SAFETY', 'content-filter', 'refusal'].map((written) => [written, 'content_filter']),
  ...['tool_use', 'tool_call'].map((written) => [written, 'tool_calls']),
  ...['abort', 'network_error', 'insufficient_system_resource'].map((written) => [written, 'error']),
] as [string, string][])('%s is %s to a client of OpenAI', (written, meant) => {
  expect(finishReasonMeant(written)).toBe(meant);
});

it.each([undefined, null, '', ' ', 'null', 'None', 0, false, {}, []])('%j is no reason', (written) => {
  expect(finishReasonMeant(written)).toBeNull();
});
