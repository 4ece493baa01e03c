/** Answers of Anthropic beyond the shared suite: blocks of its own tools, early content, every figure of usage, reasons to stop. */
import type { Json } from '../support/client.js';
import { call, type Shape } from './shapes.js';

const message = (content: unknown, stop_reason: string | null, usage: Json) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-x',
  content,
  stop_reason,
  stop_sequence: null,
  usage,
});
const few = { input_tokens: 5, output_tokens: 2 };
const begin = (usage: Json = few) => ({ type: 'message_start', message: message([], null, usage) });
const block = (index: number, content_block: Json, ...deltas: Json[]) => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
];
const finish = (stop_reason: string, usage: Json = few) => [
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
  { type: 'message_stop' },
];
const textBlock = (index: number, text: string) =>
  block(index, { type: 'text', text: '' }, { type: 'text_delta', text });
const jsonDelta = (partial_json: string) => ({ type: 'input_json_delta', partial_json });

/** One block of every tool that Anthropic runs itself, and its result. */
const serverBlocks: Json[] = [
  { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'sky' } },
  { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [{ type: 'web_search_result', title: 'Sky' }] },
  { type: 'server_tool_use', id: 'srvtoolu_2', name: 'bash_code_execution', input: { command: 'ls' } },
  { type: 'bash_code_execution_tool_result', tool_use_id: 'srvtoolu_2', content: { stdout: 'a\n', return_code: 0 } },
  { type: 'mcp_tool_use', id: 'mcptoolu_1', name: 'echo', server_name: 'local', input: { text: 'hi' } },
  { type: 'mcp_tool_result', tool_use_id: 'mcptoolu_1', is_error: false, content: [{ type: 'text', text: 'hi' }] },
  { type: 'a_later_tool_result', tool_use_id: 'x', content: 'x' },
];
const cacheUsage = {
  input_tokens: 10,
  cache_read_input_tokens: 100,
  cache_creation_input_tokens: 60,
  cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 40 },
  output_tokens: 3,
  output_tokens_details: { thinking_tokens: 1 },
  server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 },
  service_tier: 'priority',
};
const compacted = {
  input_tokens: 200,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  output_tokens: 8,
  iterations: [
    { type: 'compaction', input_tokens: 50_000, cache_read_input_tokens: 1000, output_tokens: 100 },
    { type: 'message', input_tokens: 150, output_tokens: 6 },
    { type: 'message', input_tokens: 50, output_tokens: 2 },
  ],
};

export const anthropicShapes: Shape[] = [
  {
    title: 'a tool that runs at the provider is no tool call of the caller',
    whole: message(
      [
        { type: 'text', text: 'Let me look. ' },
        ...serverBlocks,
        {
          type: 'text',
          text: 'Blue.',
          citations: [{ type: 'web_search_result_location', url: 'https://sky.example' }],
        },
        { type: 'tool_use', id: 'toolu_1', name: 'paint', input: { colour: 'blue' } },
      ],
      'tool_use',
      few,
    ),
    events: [
      begin(),
      ...textBlock(0, 'Let me look. '),
      ...serverBlocks.flatMap((each, at) =>
        'input' in each
          ? block(at + 1, { ...each, input: {} }, jsonDelta(''), jsonDelta(JSON.stringify(each.input)))
          : block(at + 1, each),
      ),
      ...textBlock(20, 'Blue.'),
      ...block(21, { type: 'tool_use', id: 'toolu_1', name: 'paint', input: {} }, jsonDelta('{"colour":"blue"}')),
      ...finish('tool_use'),
    ],
    answer: {
      content: 'Let me look. Blue.',
      toolCalls: [call('toolu_1', 'paint', { colour: 'blue' })],
      finish: 'tool_calls',
    },
  },
  {
    title: 'a pause between tools of the provider is an answer without calls',
    whole: message([serverBlocks[0]], 'pause_turn', few),
    events: [begin(), ...block(0, serverBlocks[0]!), ...finish('pause_turn')],
    answer: { content: '', toolCalls: [], finish: 'stop' },
  },
  {
    title: 'content that comes with the first event is delivered',
    events: [
      {
        type: 'message_start',
        message: message(
          [
            { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
            { type: 'text', text: 'Rolling. ' },
            { type: 'tool_use', id: 'toolu_1', name: 'roll', input: { sides: 6 }, caller: { type: 'code_execution' } },
          ],
          'tool_use',
          few,
        ),
      },
      { type: 'message_stop' },
    ],
    answer: {
      content: 'Rolling. ',
      reasoning: 'Hm.',
      toolCalls: [call('toolu_1', 'roll', { sides: 6 })],
      finish: 'tool_calls',
    },
    usage: { prompt_tokens: 5, completion_tokens: 2 },
  },
  {
    title: 'text whose block was never opened is delivered',
    events: [
      begin(),
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: ' there' } },
      ...finish('end_turn'),
    ],
    answer: { content: 'Hello there', finish: 'stop' },
  },
  {
    title: 'a message that ends without a reason ended of its own accord',
    whole: message([{ type: 'text', text: 'Hi' }], null, few),
    events: [begin(), ...textBlock(0, 'Hi'), { type: 'message_stop' }],
    answer: { content: 'Hi', finish: 'stop' },
  },
  {
    title: 'a call that ends the message without a reason is a call, and arguments that are text stay text',
    whole: message([{ type: 'tool_use', id: 'toolu_1', name: 'roll', input: '{"sides":6}' }], null, few),
    events: [
      begin(),
      ...block(0, { type: 'tool_use', id: 'toolu_1', name: 'roll', input: '{"sides":6}' }),
      { type: 'message_stop' },
    ],
    answer: { content: null, toolCalls: [call('toolu_1', 'roll', { sides: 6 })], finish: 'tool_calls' },
  },
  {
    title: 'a message without content is an empty answer',
    whole: message(null, 'end_turn', few),
    events: [begin(), ...finish('end_turn')],
    answer: { content: '', finish: 'stop' },
  },
  {
    title: 'every figure of the usage is passed on',
    whole: message([{ type: 'text', text: 'Hi' }], 'end_turn', cacheUsage),
    events: [begin({ ...cacheUsage, output_tokens: 1 }), ...textBlock(0, 'Hi'), ...finish('end_turn', cacheUsage)],
    answer: { content: 'Hi', finish: 'stop' },
    usage: {
      prompt_tokens: 170,
      completion_tokens: 3,
      total_tokens: 173,
      prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 60, cache_write_1h_tokens: 40 },
      completion_tokens_details: { reasoning_tokens: 1 },
      server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 },
      service_tier: 'priority',
    },
  },
  {
    title: 'cache writes that only the breakdown counts are part of the prompt',
    whole: message([{ type: 'text', text: 'Hi' }], 'end_turn', {
      input_tokens: 10,
      output_tokens: 1,
      cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 0 },
    }),
    answer: { content: 'Hi' },
    usage: { prompt_tokens: 30, prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 20 } },
  },
  {
    title: 'tokens of a compaction are billed beside those of the answer',
    whole: message(
      [
        { type: 'compaction', content: 'x' },
        { type: 'text', text: 'Hi' },
      ],
      'end_turn',
      compacted,
    ),
    events: [
      begin({ input_tokens: 50_000, output_tokens: 1 }),
      ...block(0, { type: 'compaction', content: null }, { type: 'compaction_delta', content: 'x' }),
      ...textBlock(1, 'Hi'),
      ...finish('end_turn', compacted),
    ],
    answer: { content: 'Hi', finish: 'stop' },
    usage: {
      prompt_tokens: 200,
      completion_tokens: 8,
      total_tokens: 208,
      extra_iterations: [
        {
          type: 'compaction',
          prompt_tokens: 51_000,
          completion_tokens: 100,
          prompt_tokens_details: { cached_tokens: 1000 },
        },
      ],
    },
    cost: (50_200 * 0.6 + 1000 * 0.3 + 108 * 0.8) / 1e6,
  },
  ...(
    [
      ['stop_sequence', 'stop'],
      ['pause_turn', 'stop'],
      ['compaction', 'stop'],
      ['max_tokens', 'length'],
      ['model_context_window_exceeded', 'length'],
      ['refusal', 'content_filter'],
      ['a_later_reason', 'stop'],
      ['tool_use', 'stop'],
    ] as const
  ).map(([reason, expected]) => ({
    title: `${reason} after text finishes with ${expected}`,
    whole: message([{ type: 'text', text: 'Hi' }], reason, few),
    events: [begin(), ...textBlock(0, 'Hi'), ...finish(reason)],
    answer: { content: 'Hi', finish: expected },
  })),
];
