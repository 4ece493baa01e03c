/** Answers of Bedrock beyond the shared suite: blocks of its own tools, every figure of usage, reasons to stop. */
import type { Json } from '../support/client.js';
import { call, type Shape } from './shapes.js';

const converse = (content: Json[], stopReason: string, usage: Json, more: Json = {}) => ({
  output: { message: { role: 'assistant', content } },
  stopReason,
  usage,
  metrics: { latencyMs: 1 },
  ...more,
});
const fewBedrock = { inputTokens: 5, outputTokens: 2, totalTokens: 7 };
const start = (contentBlockIndex: number, value: Json): [string, Json] => [
  'contentBlockStart',
  { contentBlockIndex, start: value },
];
const delta = (contentBlockIndex: number, value: Json): [string, Json] => [
  'contentBlockDelta',
  { contentBlockIndex, delta: value },
];
const stop = (contentBlockIndex: number): [string, Json] => ['contentBlockStop', { contentBlockIndex }];
const converseStream = (blocks: [string, Json][], stopReason: string, usage: Json, more: Json = {}) => [
  ['messageStart', { role: 'assistant' }] as [string, Json],
  ...blocks,
  ['messageStop', { stopReason }] as [string, Json],
  ['metadata', { usage, metrics: { latencyMs: 1 }, ...more }] as [string, Json],
];
const ran = { toolUseId: 'tooluse_1', name: 'code_interpreter', type: 'server_tool_use' };
const gave = { toolUseId: 'tooluse_1', type: 'code_interpreter_result', status: 'success' };
const stdout = [{ json: { stdOut: '42', exitCode: 0 } }];
const bedrockUsage = {
  inputTokens: 10,
  outputTokens: 3,
  totalTokens: 173,
  cacheReadInputTokens: 100,
  cacheWriteInputTokens: 60,
  cacheDetails: [
    { ttl: '5m', inputTokens: 20 },
    { ttl: '1h', inputTokens: 40 },
  ],
};

export const bedrockShapes: Shape[] = [
  {
    title: 'a tool that runs at the provider is no tool call of the caller',
    whole: converse(
      [
        { toolUse: { ...ran, input: { snippet: '6 * 7' } } },
        { toolResult: { ...gave, content: stdout } },
        { toolUse: { toolUseId: 'tooluse_2', name: 'paint', type: 'tool_use', input: { colour: 'blue' } } },
      ],
      'tool_use',
      fewBedrock,
    ),
    events: converseStream(
      [
        start(0, { toolUse: ran }),
        delta(0, { toolUse: { input: '{"snippet":' } }),
        delta(0, { toolUse: { input: '"6 * 7"}' } }),
        stop(0),
        start(1, { toolResult: gave }),
        delta(1, { toolResult: stdout }),
        stop(1),
        start(2, { toolUse: { toolUseId: 'tooluse_2', name: 'paint', type: 'tool_use' } }),
        delta(2, { toolUse: { input: '{"colour":"blue"}' } }),
        stop(2),
      ],
      'tool_use',
      fewBedrock,
    ),
    answer: { content: null, toolCalls: [call('tooluse_2', 'paint', { colour: 'blue' })], finish: 'tool_calls' },
  },
  {
    title: 'an answer in which only the provider ran a tool has no calls',
    whole: converse([{ toolUse: { ...ran, input: {} } }, { text: '42' }], 'tool_use', fewBedrock),
    events: converseStream(
      [start(0, { toolUse: ran }), stop(0), delta(1, { text: '42' }), stop(1)],
      'tool_use',
      fewBedrock,
    ),
    answer: { content: '42', toolCalls: [], finish: 'stop' },
  },
  {
    title: 'a message without content is an empty answer',
    whole: { output: { message: { role: 'assistant' } }, stopReason: 'end_turn', usage: fewBedrock },
    events: converseStream([], 'end_turn', fewBedrock),
    answer: { content: '', toolCalls: [], finish: 'stop' },
  },
  {
    title: 'every figure of the usage is passed on',
    whole: converse([{ text: 'Hi' }], 'end_turn', bedrockUsage, { serviceTier: { type: 'flex' } }),
    events: converseStream([delta(0, { text: 'Hi' }), stop(0)], 'end_turn', bedrockUsage, {
      serviceTier: { type: 'flex' },
    }),
    answer: { content: 'Hi', finish: 'stop' },
    usage: {
      prompt_tokens: 170,
      completion_tokens: 3,
      total_tokens: 173,
      prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 60, cache_write_1h_tokens: 40 },
      service_tier: 'flex',
    },
  },
  ...(
    [
      ['stop_sequence', 'stop'],
      ['max_tokens', 'length'],
      ['model_context_window_exceeded', 'length'],
      ['guardrail_intervened', 'content_filter'],
      ['content_filtered', 'content_filter'],
      ['malformed_tool_use', 'stop'],
      ['a_later_reason', 'stop'],
    ] as const
  ).map(([reason, expected]) => ({
    title: `${reason} after text finishes with ${expected}`,
    whole: converse([{ text: 'Hi' }], reason, fewBedrock),
    events: converseStream([delta(0, { text: 'Hi' }), stop(0)], reason, fewBedrock),
    answer: { content: 'Hi', finish: expected },
  })),
];
