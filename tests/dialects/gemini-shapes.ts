/** Answers of Gemini beyond the shared suite: code that it ran, calls in pieces, every figure of usage, reasons to finish. */
import type { Json } from '../support/client.js';
import { call, type Shape } from './shapes.js';

const candidates = (parts: Json[], finishReason?: string, usageMetadata: Json = fewGemini): Json => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...(finishReason !== undefined && { finishReason }) }],
  usageMetadata,
});
const fewGemini = { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 };
const piece = (functionCall: Json, more: Json = {}) => candidates([{ functionCall, ...more }]);
const partial = (jsonPath: string, value: Json, willContinue = true) =>
  piece({ partialArgs: [{ jsonPath, ...value }], ...(willContinue && { willContinue }) });
const geminiUsage = {
  promptTokenCount: 100,
  promptTokensDetails: [
    { modality: 'TEXT', tokenCount: 40 },
    { modality: 'IMAGE', tokenCount: 50 },
    { modality: 'VIDEO', tokenCount: 10 },
  ],
  cachedContentTokenCount: 30,
  toolUsePromptTokenCount: 20,
  candidatesTokenCount: 7,
  thoughtsTokenCount: 5,
  totalTokenCount: 132,
  trafficType: 'ON_DEMAND_FLEX',
};

export const geminiShapes: Shape[] = [
  {
    title: 'code that ran at the provider is no tool call of the caller',
    whole: candidates(
      [
        { executableCode: { language: 'PYTHON', code: 'print(42)' } },
        { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '42\n' } },
        { toolCall: { toolType: 'GOOGLE_SEARCH_WEB', args: { queries: ['sky'] } } },
        { text: 'It is 42.' },
      ],
      'STOP',
    ),
    events: [
      candidates([{ executableCode: { language: 'PYTHON', code: 'print(42)' } }]),
      candidates([{ codeExecutionResult: { outcome: 'OUTCOME_OK', output: '42\n' } }]),
      candidates([{ text: 'It is 42.' }], 'STOP'),
    ],
    answer: { content: 'It is 42.', toolCalls: [], finish: 'stop' },
  },
  {
    title: 'arguments that come by their paths become one call',
    events: [
      piece({ id: 'c1', name: 'cook', willContinue: true }, { thoughtSignature: 'c2ln' }),
      partial('$.recipe.name', { stringValue: 'Lasagne', willContinue: true }),
      partial('$.recipe.name', { stringValue: ' "al forno"', willContinue: true }),
      partial('$.recipe.name', { stringValue: '' }),
      partial('$.recipe.steps[0]', { stringValue: 'Köche', willContinue: true }),
      partial('$.recipe.steps[0]', { stringValue: '' }),
      partial('$.recipe.steps[1].minutes', { numberValue: 0.5 }),
      partial("$['a.b']['it\\'s']", { boolValue: false }),
      partial('$.nothing', { nullValue: 'NULL_VALUE' }),
      piece({}),
      piece({ id: 'c2', name: 'rest', willContinue: true }),
      piece({}),
      piece({ id: 'c3', name: 'wait' }),
      piece({ id: 'c4', name: 'serve', willContinue: true }),
      // The last piece of a call may also be its last argument, or the end of the answer.
      partial('$.plates', { numberValue: 4 }, false),
      piece({ id: 'c5', name: 'eat', willContinue: true }),
      partial('$.at', { stringValue: 'noon' }),
      candidates([{ text: '' }], 'STOP'),
    ],
    answer: {
      content: null,
      toolCalls: [
        call('c1', 'cook', {
          recipe: { name: 'Lasagne "al forno"', steps: ['Köche', { minutes: 0.5 }] },
          'a.b': { "it's": false },
          nothing: null,
        }),
        call('c2', 'rest', {}),
        call('c3', 'wait', {}),
        call('c4', 'serve', { plates: 4 }),
        call('c5', 'eat', { at: 'noon' }),
      ],
      finish: 'tool_calls',
    },
  },
  {
    title: 'a piece of a call that never began is left out',
    whole: candidates([{ functionCall: {} }, { text: 'Hi' }], 'STOP'),
    events: [piece({}), partial('$.a', { stringValue: 'x' }), candidates([{ text: 'Hi' }], 'STOP')],
    answer: { content: 'Hi', toolCalls: [], finish: 'stop' },
  },
  {
    title: 'every figure of the usage is passed on',
    whole: candidates([{ text: 'Hi' }], 'STOP', geminiUsage),
    events: [candidates([{ text: 'Hi' }], undefined, {}), candidates([{ text: '' }], 'STOP', geminiUsage)],
    answer: { content: 'Hi', finish: 'stop' },
    usage: {
      prompt_tokens: 120,
      completion_tokens: 12,
      total_tokens: 132,
      prompt_tokens_details: { cached_tokens: 30, image_tokens: 50, video_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 5 },
      service_tier: 'flex',
    },
  },
  {
    title: 'a reason to finish that says nothing finishes nothing',
    events: [
      candidates([{ text: 'Hel' }], 'FINISH_REASON_UNSPECIFIED'),
      candidates([{ text: 'lo' }], ''),
      candidates([{ text: '.' }], 'MAX_TOKENS'),
    ],
    answer: { content: 'Hello.', finish: 'length' },
  },
  ...(
    [
      ['SAFETY', 'content_filter'],
      ['RECITATION', 'content_filter'],
      ['LANGUAGE', 'content_filter'],
      ['OTHER', 'content_filter'],
      ['BLOCKLIST', 'content_filter'],
      ['PROHIBITED_CONTENT', 'content_filter'],
      ['SPII', 'content_filter'],
      ['MODEL_ARMOR', 'content_filter'],
      ['IMAGE_SAFETY', 'content_filter'],
      ['NO_IMAGE', 'content_filter'],
      ['MAX_TOKENS', 'length'],
      ['CONTINUATION', 'length'],
      ['MALFORMED_FUNCTION_CALL', 'stop'],
      ['MALFORMED_RESPONSE', 'stop'],
      ['UNEXPECTED_TOOL_CALL', 'stop'],
      ['TOO_MANY_TOOL_CALLS', 'stop'],
      ['A_LATER_REASON', 'stop'],
    ] as const
  ).map(([reason, expected]) => ({
    title: `${reason} after text finishes with ${expected}`,
    whole: candidates([{ text: 'Hi' }], reason),
    events: [candidates([{ text: 'Hi' }]), candidates([], reason)],
    answer: { content: 'Hi', finish: expected },
  })),
];
