/** Whole answers and streams of each dialect around a usage. */
import type { Report, UsageShape } from './shapes.js';

type Fields = Record<string, unknown>;
type Event = readonly [type: string, data: Fields];

const message = { role: 'assistant', content: 'Hello', refusal: null };

export function wholeOf(dialect: UsageShape['dialect'], { usage, beside }: Report): Fields {
  switch (dialect) {
    case 'anthropic':
      return {
        ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn' },
        ...{ content: [{ type: 'text', text: 'Hello' }], usage },
      };
    case 'gemini':
      return {
        candidates: [{ content: { role: 'model', parts: [{ text: 'Hello' }] }, finishReason: 'STOP', index: 0 }],
        usageMetadata: usage,
      };
    case 'bedrock':
      return {
        output: { message: { role: 'assistant', content: [{ text: 'Hello' }] } },
        ...{ stopReason: 'end_turn', usage, ...beside },
      };
    default:
      return {
        ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
        choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
        ...{ usage, ...beside },
      };
  }
}

export function streamOf(dialect: UsageShape['dialect'], report: Report): readonly Event[] {
  const { usage, beside } = report;
  switch (dialect) {
    case 'anthropic':
      return anthropicEvents(usage);
    case 'gemini':
      return geminiEvents(usage);
    case 'bedrock':
      return [
        ['messageStart', { role: 'assistant' }],
        ['contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hello' } }],
        ['contentBlockStop', { contentBlockIndex: 0 }],
        ['messageStop', { stopReason: 'end_turn' }],
        ['metadata', { usage, metrics: { latencyMs: 3 }, ...beside }],
      ];
    default:
      return openAiEvents(usage, beside ?? {});
  }
}

/** The tier is named by the frames before the one that has the usage. */
function openAiEvents(usage: Fields, beside: Fields): readonly Event[] {
  const frame = (members: Fields): Event => [
    'message',
    { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...members },
  ];
  const choice = (delta: Fields, finish: string | null) => [{ index: 0, delta, finish_reason: finish }];
  return [
    frame({ choices: choice({ role: 'assistant', content: '' }, null), ...beside, usage: null }),
    frame({ choices: choice({ content: 'Hello' }, null), ...beside, usage: null }),
    frame({ choices: choice({}, 'stop'), ...beside, usage: null }),
    frame({ choices: [], usage }),
  ];
}

/** The first event has the prompt and a token of the answer, the last one the whole; null says nothing. */
function anthropicEvents(usage: Fields): readonly Event[] {
  const { output_tokens, output_tokens_details, server_tool_use, ...first } = usage;
  const last = { output_tokens, output_tokens_details, server_tool_use, input_tokens: null };
  return [
    [
      'message_start',
      { type: 'message_start', message: { model: 'm', content: [], usage: { ...first, output_tokens: 1 } } },
    ],
    ['content_block_start', { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }],
    ['content_block_delta', { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } }],
    ['content_block_stop', { type: 'content_block_stop', index: 0 }],
    ['message_delta', { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: last }],
    ['message_stop', { type: 'message_stop' }],
  ];
}

/** Usage is on every event, and grows; the last one counts. */
function geminiEvents(usage: Fields): readonly Event[] {
  const event = (text: string, usageMetadata: Fields, ending: Fields): Event => [
    'message',
    { candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0, ...ending }], usageMetadata },
  ];
  const { promptTokenCount } = usage;
  return [
    event('Hel', { promptTokenCount, totalTokenCount: promptTokenCount }, {}),
    event('lo', { promptTokenCount, candidatesTokenCount: 1, totalTokenCount: (promptTokenCount as number) + 1 }, {}),
    event('', usage, { finishReason: 'STOP' }),
  ];
}
