/** What Bedrock's upstream must have received, case by case. */
import type { Json } from '../support/client.js';
import { answerSchema, type CaseName, pixel, strange, weatherSchema } from './cases.js';

const text = (value: string) => ({ text: value });
const user = (...content: object[]) => ({ role: 'user', content });
const assistant = (...content: object[]) => ({ role: 'assistant', content });
const plain = { messages: [user(text('Say hello.'))] };
const tools = [
  { toolSpec: { name: 'get_weather', description: 'Weather of a city', inputSchema: { json: weatherSchema } } },
  {
    toolSpec: {
      name: 'get_time',
      description: 'What time it is',
      inputSchema: { json: { type: 'object', properties: {} } },
    },
  },
];
const strangely = { system: [text(strange)], messages: [user(text(strange))] };

export const bedrockRequests: Record<CaseName, Json> = {
  plain,
  system: { ...plain, system: [text('Be brief.'), text('Be kind.')] },
  'multi-turn': { messages: [user(text('One?')), assistant(text('Two.')), user(text('Three'), text('four?'))] },
  'one tool call': { ...plain, toolConfig: { tools, toolChoice: { auto: {} } } },
  'text and parallel tool calls': { ...plain, toolConfig: { tools, toolChoice: { any: {} } } },
  'a named tool, one at a time': { ...plain, toolConfig: { tools, toolChoice: { tool: { name: 'get_time' } } } },
  'no tool': plain,
  'a tool call without arguments': { ...plain, toolConfig: { tools } },
  'tool results': {
    messages: [
      user(text('Weather?')),
      assistant(
        { toolUse: { toolUseId: 'call_1', name: 'get_weather', input: { city: 'Berlin' } } },
        { toolUse: { toolUseId: 'call_2', name: 'get_time', input: {} } },
      ),
      user(
        { toolResult: { toolUseId: 'call_1', content: [text('{"sky":"grey"}')] } },
        { toolResult: { toolUseId: 'call_2', content: [text('noon')] } },
        text('So?'),
      ),
    ],
    toolConfig: { tools },
  },
  'an image as data': {
    messages: [user(text('What is it?'), { image: { format: 'png', source: { bytes: pixel } } })],
  },
  'an image by address': {},
  'a JSON schema': {
    ...plain,
    outputConfig: {
      textFormat: {
        type: 'json_schema',
        structure: { jsonSchema: { name: 'answer', schema: JSON.stringify(answerSchema) } },
      },
    },
  },
  'stop sequences': { ...plain, inferenceConfig: { stopSequences: ['END', '\n\n'] } },
  'one stop sequence': { ...plain, inferenceConfig: { stopSequences: ['END'] } },
  length: { ...plain, inferenceConfig: { maxTokens: 5 } },
  'a call cut off before its arguments': { ...plain, inferenceConfig: { maxTokens: 5 } },
  'the older limit': { ...plain, inferenceConfig: { maxTokens: 7 } },
  // This model refuses a request with both a temperature and topP.
  sampling: { ...plain, inferenceConfig: { temperature: 0.5 } },
  refusal: plain,
  'cached tokens': plain,
  reasoning: {
    ...plain,
    inferenceConfig: { maxTokens: 8192 },
    additionalModelRequestFields: {
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'high' },
    },
  },
  unicode: strangely,
  'unicode in escapes': { ...strangely, toolConfig: { tools } },
  'empty content': { messages: [user(text('One?'), text('Two?'))] },
};
