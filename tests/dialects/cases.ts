/** The cases that every dialect passes: a request, and the upstream's answer. The client's answer follows from both. */
import type { Json } from '../support/client.js';
import type { Said, SaidUsage } from './dialect-fixture.js';

export interface Case {
  readonly name: string;
  readonly request: Json;
  readonly said: Said;
  /** Both sides write everything beyond ASCII as escapes. */
  readonly escaped?: boolean;
}

export const figures = (more: Partial<SaidUsage> = {}): SaidUsage => ({
  prompt: 9,
  cached: 0,
  completion: 3,
  reasoning: 0,
  ...more,
});

const hello: Said = { text: ['Hello', ' there', '.'], finish: 'stop', usage: figures() };
const user = (content: unknown): Json => ({ role: 'user', content });
const ask = [user('Say hello.')];

export const weatherSchema = {
  type: 'object',
  properties: { city: { type: 'string', description: 'Ort, z. B. Köln' } },
  required: ['city'],
};
export const weatherTool = {
  type: 'function',
  function: { name: 'get_weather', description: 'Weather of a city', parameters: weatherSchema },
};
export const clockTool = { type: 'function', function: { name: 'get_time', description: 'What time it is' } };
const tools = [weatherTool, clockTool];

const callOf = (id: string, name: string, ...pieces: string[]) => ({ id, name, arguments: pieces });
const berlin = callOf('call_1', 'get_weather', '{"city":', '"Ber', 'lin"}');
const paris = callOf('call_2', 'get_weather', '{"city":"Paris"}');
const called = (...toolCalls: Said['toolCalls'] & object): Said => ({
  toolCalls,
  finish: 'tool_calls',
  usage: figures(),
});
const messageCall = (id: string, name: string, text: string) => ({
  id,
  type: 'function',
  function: { name, arguments: text },
});

/** One transparent pixel. */
export const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
export const imageUrl = 'https://images.example/cat.png?size=2&x=é';

export const strange = 'Grüße 字 😀 "quoted" \\ back\tslash\n </s> \u2028 \u007f';
const strangePieces = ['Gr', 'üße 字', ' ', '😀 "quo', 'ted" \\ back\tsl', 'ash\n </s> \u2028', ' \u007f'];

export const answerSchema = {
  type: 'object',
  properties: { answer: { type: 'integer' } },
  required: ['answer'],
  additionalProperties: false,
};

const list = [
  { name: 'plain', request: { messages: ask }, said: hello },
  {
    name: 'system',
    request: {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'developer', content: [{ type: 'text', text: 'Be kind.' }] },
        ...ask,
      ],
    },
    said: hello,
  },
  {
    name: 'multi-turn',
    request: {
      messages: [
        user('One?'),
        { role: 'assistant', content: 'Two.' },
        user([
          { type: 'text', text: 'Three' },
          { type: 'text', text: 'four?' },
        ]),
      ],
    },
    said: hello,
  },
  { name: 'one tool call', request: { messages: ask, tools, tool_choice: 'auto' }, said: called(berlin) },
  {
    name: 'text and parallel tool calls',
    request: { messages: ask, tools, tool_choice: 'required' },
    said: { ...called(berlin, paris), text: ['Let me', ' see.'] },
  },
  {
    name: 'a named tool, one at a time',
    request: {
      messages: ask,
      tools,
      tool_choice: { type: 'function', function: { name: 'get_time' } },
      parallel_tool_calls: false,
    },
    said: called(callOf('call_1', 'get_time', '{}')),
  },
  { name: 'no tool', request: { messages: ask, tools, tool_choice: 'none' }, said: hello },
  {
    name: 'a tool call without arguments',
    request: { messages: ask, tools },
    said: called(callOf('call_1', 'get_time')),
  },
  {
    name: 'tool results',
    request: {
      messages: [
        user('Weather?'),
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            messageCall('call_1', 'get_weather', '{"city":"Berlin"}'),
            messageCall('call_2', 'get_time', ''),
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: '{"sky":"grey"}' },
        { role: 'tool', tool_call_id: 'call_2', content: [{ type: 'text', text: 'noon' }] },
        user('So?'),
      ],
      tools,
    },
    said: hello,
  },
  {
    name: 'an image as data',
    request: {
      messages: [
        user([
          { type: 'text', text: 'What is it?' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}`, detail: 'low' } },
        ]),
      ],
    },
    said: hello,
  },
  {
    name: 'an image by address',
    request: { messages: [user([{ type: 'image_url', image_url: { url: imageUrl } }])] },
    said: hello,
  },
  {
    name: 'a JSON schema',
    request: {
      messages: ask,
      response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema: answerSchema } },
    },
    said: { ...hello, text: ['{"answer"', ':42}'] },
  },
  { name: 'stop sequences', request: { messages: ask, stop: ['END', '\n\n'] }, said: hello },
  { name: 'one stop sequence', request: { messages: ask, stop: 'END' }, said: hello },
  {
    name: 'length',
    request: { messages: ask, max_completion_tokens: 5 },
    said: { text: ['And so', ' on and'], finish: 'length', usage: figures({ completion: 5 }) },
  },
  {
    name: 'a call cut off before its arguments',
    request: { messages: ask, max_completion_tokens: 5 },
    said: {
      ...called(callOf('call_1', 'get_time'), paris, callOf('call_3', 'get_weather')),
      finish: 'length',
    },
  },
  { name: 'the older limit', request: { messages: ask, max_tokens: 7 }, said: hello },
  {
    name: 'sampling',
    request: {
      messages: ask,
      temperature: 0.5,
      top_p: 0.9,
      seed: 7,
      frequency_penalty: 0.25,
      presence_penalty: -0.5,
      user: 'caller-7',
    },
    said: hello,
  },
  {
    name: 'refusal',
    request: { messages: ask },
    said: { text: ['I can', 'not'], finish: 'content_filter', usage: figures() },
  },
  {
    name: 'cached tokens',
    request: { messages: ask },
    said: { ...hello, usage: figures({ prompt: 1200, cached: 1024 }) },
  },
  {
    name: 'reasoning',
    request: { messages: ask, reasoning_effort: 'high' },
    said: {
      reasoning: ['Hm, ', 'a "greeting"\n', '…'],
      text: ['Hello.'],
      finish: 'stop',
      usage: figures({ completion: 20, reasoning: 17 }),
    },
  },
  {
    name: 'unicode',
    request: { messages: [{ role: 'system', content: strange }, user(strange)] },
    said: { ...hello, text: strangePieces },
  },
  {
    name: 'unicode in escapes',
    request: { messages: [{ role: 'system', content: strange }, user(strange)], tools },
    said: { ...called(callOf('call_1', 'get_weather', '{"city":"K', 'öln 字 😀"}')), text: strangePieces },
    escaped: true,
  },
  {
    name: 'empty content',
    request: {
      messages: [user('One?'), { role: 'assistant', content: '' }, user([{ type: 'text', text: '' }]), user('Two?')],
    },
    said: { text: [], finish: 'stop', usage: figures({ completion: 0 }) },
  },
] as const satisfies readonly Case[];

export type CaseName = (typeof list)[number]['name'];
export const cases: readonly (Case & { name: CaseName })[] = list;
