import { describe, expect, it } from 'vitest';
import type { ChatRequest } from '../../../wire/chat-request.js';
import { bedrock } from './bedrock.js';
import { messagesOf } from './blocks.js';

const claude = 'anthropic.claude-sonnet-4-5-20250929-v1:0';
const target = (upstreamModel: string, maxOutputTokens: number | null = null) => ({
  upstreamModel,
  baseUrl: 'https://x.example',
  streamUsage: true,
  maxOutputTokens,
});

function bodyOf(fields: object, model = claude, maxOutputTokens: number | null = null) {
  const members = JSON.stringify({ messages: [{ role: 'user', content: 'hi' }], ...fields }).slice(1, -1);
  const request = { members, encoding: 'utf8', stream: false } as ChatRequest;
  return JSON.parse(String(bedrock.callOf(request, target(model, maxOutputTokens)).body));
}
const contentOf = (content: unknown) => bodyOf({ messages: [{ role: 'user', content }] }).messages[0]?.content;
const tool = (name: string, more: object = {}) => ({ type: 'function', function: { name, ...more } });
const call = (id: string, name: string) => ({ id, type: 'function', function: { name, arguments: '{}' } });
const schema = { type: 'object', properties: {} };

describe('a request to Bedrock', () => {
  it('names its model in the path, ARNs too, encoded', () => {
    const pathOf = (model: string, stream: boolean) =>
      bedrock.callOf({ members: '"messages":[]', encoding: 'latin1', stream } as ChatRequest, target(model)).path;
    expect(pathOf('eu.anthropic.claude-v1:0', false)).toBe('/model/eu.anthropic.claude-v1%3A0/converse');
    expect(pathOf('arn:aws:bedrock:eu-west-1:1:inference-profile/x', true)).toBe(
      '/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Ainference-profile%2Fx/converse-stream',
    );
  });

  it('has the highest temperature that there is for what is above', () => {
    expect(bodyOf({ temperature: 1.7 }).inferenceConfig).toEqual({ temperature: 1 });
  });

  it('samples as the model takes it', () => {
    const sampling = { temperature: 0.5, top_p: 0.9, top_k: 5 };
    expect(bodyOf(sampling, 'global.anthropic.claude-opus-4-8')).toEqual({
      messages: [{ role: 'user', content: [{ text: 'hi' }] }],
    });
    expect(bodyOf(sampling, claude).inferenceConfig).toEqual({ temperature: 0.5 });
    expect(bodyOf(sampling, 'amazon.nova-pro-v1:0').inferenceConfig).toEqual({ temperature: 0.5, topP: 0.9 });
  });

  it('passes the provider\u2019s own words on, and the model\u2019s own where they belong', () => {
    const body = bodyOf({
      temperature: 0.5,
      inferenceConfig: { temperature: 0.1 },
      guardrailConfig: { guardrailIdentifier: 'g' },
      requestMetadata: { team: 't' },
      top_k: 40,
      additionalModelRequestFields: { top_k: 50, other: 1 },
      service_tier: 'priority',
      seed: 7,
      user: 'u',
      parallel_tool_calls: false,
    });
    expect(body).toEqual({
      messages: [{ role: 'user', content: [{ text: 'hi' }] }],
      guardrailConfig: { guardrailIdentifier: 'g' },
      requestMetadata: { team: 't' },
      inferenceConfig: { temperature: 0.1 },
      additionalModelRequestFields: { top_k: 50, other: 1 },
      serviceTier: { type: 'priority' },
    });
    expect(bodyOf({ service_tier: 'auto' })).not.toHaveProperty('serviceTier');
    expect(bodyOf({ service_tier: 'on_demand' })).not.toHaveProperty('serviceTier');
  });

  it.each([
    ['claude by a budget, and its limit with it', claude, { thinking: { type: 'enabled', budget_tokens: 6553 } }, 8192],
    ['gpt-oss', 'openai.gpt-oss-120b-1:0', { reasoning_effort: 'high' }, undefined],
    [
      'nova',
      'amazon.nova-2-lite-v1:0',
      { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' } },
      undefined,
    ],
  ])('has an effort in the words of %s', (_, model, additional, maxTokens) => {
    const body = bodyOf({ reasoning_effort: 'high' }, model, 8192);
    expect([body.additionalModelRequestFields, body.inferenceConfig?.maxTokens]).toEqual([additional, maxTokens]);
  });

  it('has no budget for Claude in a round of tool calls whose thoughts the client has not kept', () => {
    const additionalOf = (reasoning_details: object[]) => {
      const assistant = { role: 'assistant', tool_calls: [call('c', 'f')], reasoning_details };
      const messages = [{ role: 'user', content: 'hi' }, assistant, { role: 'tool', tool_call_id: 'c', content: 'r' }];
      return bodyOf({ messages, reasoning_effort: 'high' }, claude, 8192).additionalModelRequestFields;
    };
    expect(additionalOf([])).toBeUndefined();
    const budget = { thinking: { type: 'enabled', budget_tokens: 6553 } };
    expect(additionalOf([{ text: 'hm', signature: 's', format: 'anthropic-claude-v1' }])).toEqual(budget);
    expect(additionalOf([{ data: 'x', format: 'bedrock-converse-v1' }])).toEqual(budget);
  });

  it('has an effort of other models in Converse\u2019s own word', () => {
    expect(bodyOf({ reasoning_effort: 'low' }, 'deepseek.v3-v1:0').outputConfig).toEqual({ effort: 'low' });
    expect(bodyOf({ reasoning_effort: 'none' }, 'amazon.nova-2-pro').additionalModelRequestFields).toEqual({
      reasoningConfig: { type: 'disabled' },
    });
  });

  it('has prompt-cache markers as cache points', () => {
    const cache_control = { type: 'ephemeral', ttl: '1h' };
    const body = bodyOf({
      messages: [
        { role: 'system', content: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral' } }] },
        { role: 'user', content: [{ type: 'text', text: 'u', cache_control }] },
      ],
      tools: [{ ...tool('f'), cache_control }],
    });
    const point = { cachePoint: { type: 'default', ttl: '1h' } };
    expect(body.system).toEqual([{ text: 's' }, { cachePoint: { type: 'default' } }]);
    expect(body.messages[0].content).toEqual([{ text: 'u' }, point]);
    expect(body.toolConfig.tools).toEqual([{ toolSpec: { name: 'f', inputSchema: { json: schema } } }, point]);
  });
});

describe('turns', () => {
  it('alternate and are never blank', () => {
    const { messages } = bodyOf({
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: ' \n' },
        { role: 'user', content: 'b' },
        { role: 'assistant', content: 'c' },
        { role: 'assistant', content: 'd' },
      ],
    });
    expect(messages).toEqual([
      { role: 'user', content: [{ text: 'a' }, { text: 'b' }] },
      { role: 'assistant', content: [{ text: 'c' }, { text: 'd' }] },
    ]);
  });

  it('may have any number of blocks, also where two become one', () => {
    const text = (value: string) => ({ kind: 'text' as const, text: value });
    const many = Array.from({ length: 200_000 }, () => text('a'));
    const turns = [
      { role: 'user' as const, items: [text('a')] },
      { role: 'assistant' as const, items: [text(' ')] },
      { role: 'user' as const, items: many },
    ];
    expect(messagesOf(turns, 'utf8')[0]?.content).toHaveLength(200_001);
  });

  it('give reasoning back as it came, and another provider\u2019s not at all', () => {
    const reasoning_details = [
      { type: 'reasoning.text', text: 'hm', signature: 's', format: 'anthropic-claude-v1' },
      { type: 'reasoning.encrypted', data: 'QQ==', format: 'bedrock-converse-v1' },
      { type: 'reasoning.text', text: 'unsigned', format: 'anthropic-claude-v1' },
      { type: 'reasoning.encrypted', data: 'x', format: 'other' },
    ];
    expect(bodyOf({ messages: [{ role: 'assistant', content: 'a', reasoning_details }] }).messages[0].content).toEqual([
      { reasoningContent: { reasoningText: { text: 'hm', signature: 's' } } },
      { reasoningContent: { redactedContent: 'QQ==' } },
      { text: 'a' },
    ]);
  });

  it('hold images, documents and sounds, and what has no block as it came', () => {
    const data = (type: string, filename?: string) => ({
      type: 'file',
      file: { file_data: `data:${type};base64,QQ==`, ...(filename && { filename }) },
    });
    const image = (url: string) => ({ type: 'image_url', image_url: { url } });
    const source = { bytes: 'QQ==' };
    expect(
      contentOf([
        image('data:image/jpg;base64,QQ=='),
        image('data:image/webp;base64,QQ=='),
        image('s3://bucket/a.JPG'),
        image('https://a.example/b.png'),
        data('application/pdf', 'Q3 (final)_é.pdf'),
        data('text/markdown'),
        data('application/zip'),
        { type: 'input_audio', input_audio: { data: 'QQ==', format: 'mp3' } },
        { guardContent: { text: {} } },
      ]),
    ).toEqual([
      { image: { format: 'jpeg', source } },
      { image: { format: 'webp', source } },
      { image: { format: 'jpeg', source: { s3Location: { uri: 's3://bucket/a.JPG' } } } },
      image('https://a.example/b.png'),
      { document: { format: 'pdf', name: 'Q3 (final)', source } },
      { document: { format: 'md', name: 'document', source } },
      data('application/zip'),
      { audio: { format: 'mp3', source } },
      { guardContent: { text: {} } },
    ]);
  });
});

describe('tools', () => {
  it('are declared where the conversation called them, even if the client no longer sends them', () => {
    const messages = [
      { role: 'user', content: 'a' },
      { role: 'assistant', tool_calls: [call('1', 'f'), call('2', 'f')] },
      { role: 'tool', tool_call_id: '1', content: '' },
      { role: 'tool', tool_call_id: '2', content: [{ type: 'text', text: 'x' }] },
    ];
    const declared = { tools: [{ toolSpec: { name: 'f', inputSchema: { json: schema } } }] };
    expect(bodyOf({ messages }).toolConfig).toEqual(declared);
    expect(bodyOf({ messages, tools: [tool('g')], tool_choice: 'none' }).toolConfig).toEqual({
      tools: [{ toolSpec: { name: 'g', inputSchema: { json: schema } } }],
    });
    expect(bodyOf({ messages }).messages[2].content).toEqual([
      { toolResult: { toolUseId: '1', content: [] } },
      { toolResult: { toolUseId: '2', content: [{ text: 'x' }] } },
    ]);
    expect(bodyOf({ tools: [tool('g')], tool_choice: 'none' })).not.toHaveProperty('toolConfig');
  });

  it('have names and ids in allowed characters, equal in definition, choice, call and result', () => {
    const name = 'server.tool/é';
    const long = 'x'.repeat(80);
    const { messages, toolConfig } = bodyOf({
      messages: [
        { role: 'assistant', tool_calls: [call('id é', name), call(long, name)] },
        { role: 'tool', tool_call_id: 'id é', content: 'r' },
        { role: 'tool', tool_call_id: long, content: 'r' },
      ],
      tools: [tool(name, { strict: true })],
      tool_choice: { type: 'function', function: { name } },
    });
    const written = 'server_x2etool_x2f_xc3_xa9';
    expect(toolConfig).toEqual({
      tools: [{ toolSpec: { name: written, inputSchema: { json: schema }, strict: true } }],
      toolChoice: { tool: { name: written } },
    });
    const uses = messages[0].content.map(({ toolUse }: { toolUse: { toolUseId: string; name: string } }) => toolUse);
    const results = messages[1].content.map(({ toolResult }: { toolResult: { toolUseId: string } }) => toolResult);
    for (const [at, { toolUseId, name: used }] of uses.entries()) {
      expect([used, toolUseId]).toEqual([written, results[at].toolUseId]);
      expect(toolUseId).toMatch(/^[a-zA-Z0-9_.:-]{1,64}$/);
    }
    expect(uses[0].toolUseId).not.toBe(uses[1].toolUseId);
  });
});

describe('what Converse has no words for', () => {
  it.each([
    [['n'], null, 'n'],
    [['response_format', 'logprobs'], 'json_schema', 'logprobs'],
    [['response_format'], 'json_schema', null],
    [['response_format'], 'json_object', 'response_format'],
  ] as const)('%j with the format %s: %s', (needs, responseFormat, refused) => {
    expect(bedrock.inapplicableParameter({ needs: [...needs], responseFormat })).toBe(refused);
  });
});
