import { describe, expect, it } from 'vitest';
import type { ChatRequest } from '../../../wire/chat-request.js';
import { gemini } from './gemini.js';

function bodyOf(fields: object, model = 'gemini-2.5-flash') {
  const members = JSON.stringify({ messages: [{ role: 'user', content: 'hi' }], ...fields }).slice(1, -1);
  const request = { members, encoding: 'utf8', stream: false } as ChatRequest;
  const target = { upstreamModel: model, baseUrl: 'https://x.example', streamUsage: true, maxOutputTokens: null };
  return JSON.parse(String(gemini.callOf(request, target).body));
}
const configOf = (fields: object, model?: string) => bodyOf(fields, model).generationConfig;
const pathOf = (upstreamModel: string, stream = false) =>
  gemini.callOf({ members: '"messages":[]', encoding: 'latin1', stream } as ChatRequest, {
    upstreamModel,
    baseUrl: '',
    streamUsage: true,
    maxOutputTokens: null,
  }).path;

describe('a request to Gemini', () => {
  it('names its model in the path, whole resources as they are', () => {
    expect(pathOf('gemini-2.5-pro')).toBe('/models/gemini-2.5-pro:generateContent');
    expect(pathOf('gemini-2.5-pro', true)).toBe('/models/gemini-2.5-pro:streamGenerateContent?alt=sse');
    expect(pathOf('tunedModels/a b')).toBe('/tunedModels/a%20b:generateContent');
  });

  it('has no turn of nothing, as another provider\u2019s reasoning alone would leave', () => {
    const reasoning_details = [{ type: 'reasoning.text', text: 'hm', format: 'other' }];
    const messages = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: '', reasoning_details },
    ];
    expect(bodyOf({ messages }).contents).toEqual([{ role: 'user', parts: [{ text: 'a' }] }]);
  });

  it('asks for several candidates and for logprobs in its own words', () => {
    expect(configOf({ n: 3, logprobs: true, top_logprobs: 4 })).toEqual({
      candidateCount: 3,
      responseLogprobs: true,
      logprobs: 4,
    });
    expect(bodyOf({ n: 1, logprobs: false, response_format: { type: 'text' } })).not.toHaveProperty('generationConfig');
  });

  it('asks for JSON with and without a schema', () => {
    expect(configOf({ response_format: { type: 'json_object' } })).toEqual({ responseMimeType: 'application/json' });
    const schema = { type: 'object', additionalProperties: false };
    expect(configOf({ response_format: { type: 'json_schema', json_schema: { name: 'a', schema } } })).toEqual({
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
    });
  });

  it.each([
    ['high', 'gemini-2.5-flash', { thinkingBudget: 24_576, includeThoughts: true }],
    ['minimal', 'gemini-2.5-pro', { thinkingBudget: 1024, includeThoughts: true }],
    ['none', 'gemini-2.5-flash', { thinkingBudget: 0 }],
    ['none', 'gemini-2.5-pro', { thinkingBudget: 128 }],
    ['xhigh', 'gemini-2.5-pro', { thinkingBudget: 24_576, includeThoughts: true }],
    ['low', 'gemini-3-pro-preview', { thinkingLevel: 'LOW', includeThoughts: true }],
    ['medium', 'gemini-3.1-flash', { thinkingLevel: 'MEDIUM', includeThoughts: true }],
    ['max', 'gemini-3-flash', { thinkingLevel: 'HIGH', includeThoughts: true }],
    ['minimal', 'gemini-3-flash', { thinkingLevel: 'MINIMAL', includeThoughts: true }],
    ['none', 'gemini-3-flash', { thinkingLevel: 'MINIMAL' }],
    ['none', 'gemini-3-pro', { thinkingLevel: 'LOW' }],
    ['high', 'gemini-flash-latest', { thinkingLevel: 'HIGH', includeThoughts: true }],
    ['high', 'gemini-2.0-flash', undefined],
  ])('has the effort %s of %s as %j', (reasoning_effort, model, thinkingConfig) => {
    expect(configOf({ reasoning_effort }, model)?.thinkingConfig).toEqual(thinkingConfig);
  });

  it('passes on the provider\u2019s own words, which win over ours, and drops what it has none for', () => {
    const body = bodyOf({
      temperature: 0.5,
      top_k: 40,
      safetySettings: [{ category: 'c', threshold: 't' }],
      generationConfig: { temperature: 0.1, mediaResolution: 'LOW' },
      user: 'u',
      parallel_tool_calls: false,
      store: true,
    });
    expect(body).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
      safetySettings: [{ category: 'c', threshold: 't' }],
      generationConfig: { temperature: 0.1, topK: 40, mediaResolution: 'LOW' },
    });
  });

  it('keeps tools of its own beside functions, and a choice that asks for nothing out', () => {
    const tools = [{ type: 'function', function: { name: 'f' } }, { googleSearch: {} }];
    expect(bodyOf({ tools }).tools).toEqual([{ functionDeclarations: [{ name: 'f' }] }, { googleSearch: {} }]);
    expect(bodyOf({ tool_choice: 'auto' })).not.toHaveProperty('toolConfig');
    expect(bodyOf({ tool_choice: { mine: 1 } })).not.toHaveProperty('toolConfig');
  });
});

describe('a conversation with Gemini', () => {
  const call = (id: string, extra: object = {}) => ({
    id,
    type: 'function',
    function: { name: 'f', arguments: '{}' },
    ...extra,
  });
  const signed = { extra_content: { google: { thought_signature: 'c2ln' } } };
  const contentsOf = (messages: object[], model?: string) => bodyOf({ messages }, model).contents;

  it('gives a call its signature back', () => {
    const [content] = contentsOf([{ role: 'assistant', tool_calls: [call('a', signed), call('b')] }]);
    expect(content.parts).toEqual([
      { functionCall: { id: 'a', name: 'f', args: {} }, thoughtSignature: 'c2ln' },
      { functionCall: { id: 'b', name: 'f', args: {} } },
    ]);
  });

  it('says of a call that was made elsewhere that it was, where the model demands a signature', () => {
    const messages = [
      { role: 'assistant', tool_calls: [call('a'), call('b')] },
      { role: 'tool', tool_call_id: 'a', content: '1' },
      { role: 'assistant', tool_calls: [call('c', signed)] },
    ];
    const signatures = (model: string) =>
      contentsOf(messages, model).flatMap(({ parts }: { parts: { thoughtSignature?: string }[] }) =>
        parts.map(({ thoughtSignature }) => thoughtSignature),
      );
    expect(signatures('gemini-2.5-pro')).toEqual([undefined, undefined, undefined, 'c2ln']);
    expect(signatures('gemini-3-pro')).toEqual(['skip_thought_signature_validator', undefined, undefined, 'c2ln']);
  });

  it.each([
    ['{"a":1}', { a: 1 }],
    ['[1]', { result: '[1]' }],
    ['{"a":', { result: '{"a":' }],
    ['{"id":12345678901234567890}', { result: '{"id":12345678901234567890}' }],
    ['', { result: '' }],
  ])('has the result %j as %j', (content, response) => {
    const [, user] = contentsOf([
      { role: 'assistant', tool_calls: [call('a')] },
      { role: 'tool', tool_call_id: 'a', content },
    ]);
    expect(user.parts).toEqual([{ functionResponse: { id: 'a', name: 'f', response } }]);
  });

  it('has what a result holds besides text beside it', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,QQ==' } };
    const [user] = contentsOf([
      { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: 'x' }, { type: 'text', text: 'y' }, image] },
    ]);
    expect(user.parts).toEqual([
      { functionResponse: { id: 'a', name: 'a', response: { result: ['x', 'y'] } } },
      { inlineData: { mimeType: 'image/png', data: 'QQ==' } },
    ]);
  });

  it('has files and sounds as data, addresses for Google to fetch, and other parts as they came', () => {
    const content = [
      { type: 'file', file: { file_data: 'data:application/pdf;base64,QQ==', filename: 'a.pdf' } },
      { type: 'input_audio', input_audio: { data: 'QQ==', format: 'wav' } },
      { type: 'image_url', image_url: { url: 'gs://bucket/a.JPG' } },
      { type: 'image_url', image_url: { url: 'https://a.example/picture' } },
      { videoMetadata: { fps: 1 } },
    ];
    expect(contentsOf([{ role: 'user', content }])[0].parts).toEqual([
      { inlineData: { mimeType: 'application/pdf', data: 'QQ==' } },
      { inlineData: { mimeType: 'audio/wav', data: 'QQ==' } },
      { fileData: { mimeType: 'image/jpeg', fileUri: 'gs://bucket/a.JPG' } },
      { fileData: { fileUri: 'https://a.example/picture' } },
      { videoMetadata: { fps: 1 } },
    ]);
  });
});

describe('what Gemini has no words for', () => {
  it.each([
    [['logit_bias', 'n'], null, 'logit_bias'],
    [['n', 'logprobs'], null, null],
    [['response_format'], 'json_object', null],
    [['response_format'], 'json_schema', null],
    [['response_format'], 'grammar', 'response_format'],
  ] as const)('%j with the format %s: %s', (needs, responseFormat, refused) => {
    expect(gemini.inapplicableParameter({ needs: [...needs], responseFormat })).toBe(refused);
  });
});
