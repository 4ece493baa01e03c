/** What Gemini's upstream must have received, case by case. */
import type { Json } from '../support/client.js';
import { answerSchema, type CaseName, imageUrl, pixel, strange, weatherSchema } from './cases.js';

const text = (value: string) => ({ text: value });
const user = (...parts: object[]) => ({ role: 'user', parts });
const model = (...parts: object[]) => ({ role: 'model', parts });
const plain = { contents: [user(text('Say hello.'))] };
const tools = [
  {
    functionDeclarations: [
      { name: 'get_weather', description: 'Weather of a city', parametersJsonSchema: weatherSchema },
      { name: 'get_time', description: 'What time it is' },
    ],
  },
];
const choosing = (functionCallingConfig: object) => ({ ...plain, tools, toolConfig: { functionCallingConfig } });
const strangely = {
  systemInstruction: { parts: [text(strange)] },
  contents: [user(text(strange))],
};

export const geminiRequests: Record<CaseName, Json> = {
  plain,
  system: { ...plain, systemInstruction: { parts: [text('Be brief.'), text('Be kind.')] } },
  'multi-turn': { contents: [user(text('One?')), model(text('Two.')), user(text('Three'), text('four?'))] },
  'one tool call': choosing({ mode: 'AUTO' }),
  'text and parallel tool calls': choosing({ mode: 'ANY' }),
  'a named tool, one at a time': choosing({ mode: 'ANY', allowedFunctionNames: ['get_time'] }),
  'no tool': choosing({ mode: 'NONE' }),
  'a tool call without arguments': { ...plain, tools },
  'tool results': {
    contents: [
      user(text('Weather?')),
      model(
        { functionCall: { id: 'call_1', name: 'get_weather', args: { city: 'Berlin' } } },
        { functionCall: { id: 'call_2', name: 'get_time', args: {} } },
      ),
      user(
        { functionResponse: { id: 'call_1', name: 'get_weather', response: { sky: 'grey' } } },
        { functionResponse: { id: 'call_2', name: 'get_time', response: { result: 'noon' } } },
        text('So?'),
      ),
    ],
    tools,
  },
  'an image as data': {
    contents: [user(text('What is it?'), { inlineData: { mimeType: 'image/png', data: pixel } })],
  },
  'an image by address': { contents: [user({ fileData: { mimeType: 'image/png', fileUri: imageUrl } })] },
  'a JSON schema': {
    ...plain,
    generationConfig: { responseMimeType: 'application/json', responseJsonSchema: answerSchema },
  },
  'stop sequences': { ...plain, generationConfig: { stopSequences: ['END', '\n\n'] } },
  'one stop sequence': { ...plain, generationConfig: { stopSequences: ['END'] } },
  length: { ...plain, generationConfig: { maxOutputTokens: 5 } },
  'a call cut off before its arguments': { ...plain, generationConfig: { maxOutputTokens: 5 } },
  'the older limit': { ...plain, generationConfig: { maxOutputTokens: 7 } },
  sampling: {
    ...plain,
    generationConfig: { temperature: 0.5, topP: 0.9, seed: 7, frequencyPenalty: 0.25, presencePenalty: -0.5 },
  },
  refusal: plain,
  'cached tokens': plain,
  reasoning: { ...plain, generationConfig: { thinkingConfig: { thinkingBudget: 24_576, includeThoughts: true } } },
  unicode: strangely,
  'unicode in escapes': { ...strangely, tools },
  'empty content': { contents: [user(text('One?'), text('Two?'))] },
};
