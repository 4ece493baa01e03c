/** What Anthropic's upstream must have received, case by case. */
import type { Json } from '../support/client.js';
import { answerSchema, type CaseName, imageUrl, pixel, strange, weatherSchema } from './cases.js';

const text = (value: string) => ({ type: 'text', text: value });
const user = (...content: object[]) => ({ role: 'user', content });
const assistant = (...content: object[]) => ({ role: 'assistant', content });
const ask = [user(text('Say hello.'))];
const tools = [
  { name: 'get_weather', description: 'Weather of a city', input_schema: weatherSchema },
  { name: 'get_time', description: 'What time it is', input_schema: { type: 'object', properties: {} } },
];
const plain = { model: 'claude-sonnet-4-6', max_tokens: 8192, messages: ask };

export const anthropicRequests: Record<CaseName, Json> = {
  plain,
  system: { ...plain, system: [text('Be brief.'), text('Be kind.')] },
  'multi-turn': {
    ...plain,
    messages: [user(text('One?')), assistant(text('Two.')), user(text('Three'), text('four?'))],
  },
  'one tool call': { ...plain, tools, tool_choice: { type: 'auto' } },
  'text and parallel tool calls': { ...plain, tools, tool_choice: { type: 'any' } },
  'a named tool, one at a time': {
    ...plain,
    tools,
    tool_choice: { type: 'tool', name: 'get_time', disable_parallel_tool_use: true },
  },
  'no tool': { ...plain, tools, tool_choice: { type: 'none' } },
  'a tool call without arguments': { ...plain, tools },
  'tool results': {
    ...plain,
    messages: [
      user(text('Weather?')),
      assistant(
        { type: 'tool_use', id: 'call_1', name: 'get_weather', input: { city: 'Berlin' } },
        { type: 'tool_use', id: 'call_2', name: 'get_time', input: {} },
      ),
      user(
        { type: 'tool_result', tool_use_id: 'call_1', content: '{"sky":"grey"}' },
        { type: 'tool_result', tool_use_id: 'call_2', content: 'noon' },
        text('So?'),
      ),
    ],
    tools,
  },
  'an image as data': {
    ...plain,
    messages: [
      user(text('What is it?'), {
        type: 'image',
        source: { type: 'base64', media_type: 'image/png', data: pixel },
      }),
    ],
  },
  'an image by address': { ...plain, messages: [user({ type: 'image', source: { type: 'url', url: imageUrl } })] },
  'a JSON schema': {
    ...plain,
    output_config: { format: { type: 'json_schema', schema: answerSchema } },
  },
  'stop sequences': { ...plain, stop_sequences: ['END', '\n\n'] },
  'one stop sequence': { ...plain, stop_sequences: ['END'] },
  length: { ...plain, max_tokens: 5 },
  'a call cut off before its arguments': { ...plain, max_tokens: 5 },
  'the older limit': { ...plain, max_tokens: 7 },
  sampling: {
    ...plain,
    // This model refuses a request with both.
    temperature: 0.5,
    metadata: { user_id: 'caller-7' },
  },
  refusal: plain,
  'cached tokens': plain,
  reasoning: {
    ...plain,
    thinking: { type: 'adaptive', display: 'summarized' },
    output_config: { effort: 'high' },
  },
  unicode: { ...plain, system: strange, messages: [user(text(strange))] },
  'unicode in escapes': { ...plain, system: strange, messages: [user(text(strange))], tools },
  'empty content': { ...plain, messages: [user(text('One?'), text('Two?'))] },
};
