/** What a client sends, and what an honest provider answers, with every documented member, in each API that a provider may speak. */
const messages = [{ role: 'user', content: 'hi' }];
const usage = {
  prompt_tokens: 9,
  completion_tokens: 3,
  total_tokens: 12,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  server_tool_use: { web_search_requests: 0 },
};
const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };
const logprobs = { content: [{ token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }] };
const chunk = (choice, more = {}) => ({
  ...{ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'upstream-model' },
  choices: [{ index: 0, finish_reason: null, ...choice }],
  ...more,
});
const messageUsage = { input_tokens: 9, output_tokens: 3, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
const message = { id: 'm', type: 'message', role: 'assistant', model: 'upstream-model' };
const responseUsage = {
  ...{ input_tokens: 9, input_tokens_details: { cached_tokens: 0 } },
  ...{ output_tokens: 3, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 12 },
};
const item = {
  ...{ id: 'i', type: 'message', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text: 'Hello', annotations: [], logprobs: [] }],
};
const response = { id: 'r', object: 'response', created_at: 1, model: 'upstream-model', metadata: {}, error: null };
const completed = { ...response, status: 'completed', output: [item], usage: responseUsage };
const geminiUsage = {
  ...{ promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 },
  promptTokensDetails: [{ modality: 'TEXT', tokenCount: 5 }],
};
const candidate = (parts, more = {}) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, safetyRatings: [], ...more }],
  ...{ usageMetadata: geminiUsage, modelVersion: 'upstream-model', responseId: 'g' },
});
const bedrockUsage = { inputTokens: 5, outputTokens: 2, totalTokens: 7, cacheReadInputTokens: 0 };
const asked = (model, more) => ({ model, messages, ...more });

/** Each with the client's request, a whole answer, and where it streams the frames of one: `[event, data]`. */
export const answerTemplates = [
  {
    name: 'chat',
    path: '/v1/chat/completions',
    request: asked('openai/acme/chat/defra'),
    whole: {
      ...{ id: 'x', object: 'chat.completion', created: 1, model: 'upstream-model', service_tier: 'default' },
      system_fingerprint: 'fp',
      choices: [
        {
          index: 0,
          message: {
            ...{ role: 'assistant', content: 'Hello', refusal: null, reasoning_content: null, annotations: [] },
            tool_calls: [call],
          },
          logprobs,
          finish_reason: 'stop',
        },
      ],
      usage,
      error: null,
    },
    frames: [
      ['', chunk({ delta: { role: 'assistant', content: 'Hel', reasoning_content: '', refusal: null }, logprobs })],
      ['', chunk({ delta: { tool_calls: [{ index: 0, ...call }] } })],
      ['', chunk({ delta: {}, finish_reason: 'stop' }, { usage, error: null, x_groq: { id: 'q' } })],
    ],
  },
  {
    name: 'messages',
    path: '/v1/messages',
    request: { ...asked('anthropic/acme/chat/defra'), max_tokens: 100 },
    whole: {
      ...message,
      content: [
        { type: 'text', text: 'Hello', citations: null },
        { type: 'tool_use', id: 't', name: 'f', input: {} },
      ],
      ...{ stop_reason: 'end_turn', stop_sequence: null, usage: messageUsage },
    },
    frames: [
      ['message_start', { type: 'message_start', message: { ...message, content: [], usage: messageUsage } }],
      [
        'content_block_start',
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '', citations: null } },
      ],
      ['content_block_delta', { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } }],
      ['content_block_stop', { type: 'content_block_stop', index: 0 }],
      [
        'message_delta',
        { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: messageUsage },
      ],
      ['message_stop', { type: 'message_stop' }],
    ],
  },
  {
    name: 'responses',
    path: '/v1/responses',
    request: { model: 'openai/acme/chat/defra', input: 'hi' },
    whole: completed,
    frames: [
      [
        'response.created',
        { type: 'response.created', sequence_number: 0, response: { ...response, status: 'in_progress' } },
      ],
      [
        'response.output_item.added',
        { type: 'response.output_item.added', sequence_number: 1, output_index: 0, item: { ...item, content: [] } },
      ],
      [
        'response.output_text.delta',
        {
          ...{ type: 'response.output_text.delta', sequence_number: 2, output_index: 0, item_id: 'i' },
          ...{ content_index: 0, delta: 'Hello', logprobs: [] },
        },
      ],
      ['response.output_item.done', { type: 'response.output_item.done', sequence_number: 3, output_index: 0, item }],
      ['response.completed', { type: 'response.completed', sequence_number: 4, response: completed }],
    ],
  },
  {
    name: 'gemini',
    path: '/v1/chat/completions',
    request: asked('gemini/acme/chat/defra'),
    whole: candidate([{ text: 'Hello' }, { functionCall: { id: 'c', name: 'f', args: {} } }], {
      ...{ finishReason: 'STOP', logprobsResult: { chosenCandidates: [], topCandidates: [] } },
    }),
    frames: [
      ['', candidate([{ text: 'Hello' }])],
      ['', candidate([{ functionCall: { id: 'c', name: 'f', args: {} } }])],
      ['', candidate([{ text: '' }], { finishReason: 'STOP' })],
    ],
  },
  {
    name: 'bedrock',
    path: '/v1/chat/completions',
    request: asked('bedrock/acme/chat/defra'),
    whole: {
      output: {
        message: {
          role: 'assistant',
          content: [{ text: 'Hello' }, { toolUse: { toolUseId: 't', name: 'f', input: {} } }],
        },
      },
      ...{ stopReason: 'end_turn', usage: bedrockUsage, metrics: { latencyMs: 1 } },
    },
    frames: [
      ['messageStart', { role: 'assistant' }],
      ['contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hello' } }],
      ['contentBlockStop', { contentBlockIndex: 0 }],
      ['messageStop', { stopReason: 'end_turn' }],
      ['metadata', { usage: bedrockUsage, metrics: { latencyMs: 1 } }],
    ],
    isAmazon: true,
  },
  {
    name: 'chat for a Messages client',
    path: '/v1/messages',
    request: { ...asked('plain/acme/chat/defra'), max_tokens: 100 },
    whole: {
      ...{ id: 'x', object: 'chat.completion', created: 1, model: 'upstream-model' },
      choices: [
        { index: 0, message: { role: 'assistant', content: 'Hello', tool_calls: [call] }, finish_reason: 'stop' },
      ],
      usage,
    },
  },
  {
    name: 'chat for a Responses client',
    path: '/v1/responses',
    request: { model: 'plain/acme/chat/defra', input: 'hi' },
    whole: {
      ...{ id: 'x', object: 'chat.completion', created: 1, model: 'upstream-model' },
      choices: [
        { index: 0, message: { role: 'assistant', content: 'Hello', tool_calls: [call] }, finish_reason: 'stop' },
      ],
      usage,
    },
  },
  {
    name: 'embeddings',
    path: '/v1/embeddings',
    request: { model: 'plain/acme/embedding/defra', input: ['hi'] },
    whole: {
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [0.5, 0.25] }],
      ...{ model: 'upstream-model', usage: { prompt_tokens: 5, total_tokens: 5 } },
    },
  },
  {
    name: 'rerank',
    path: '/v1/rerank',
    request: { model: 'plain/acme/rerank/defra', query: 'hi', documents: ['a'] },
    whole: {
      ...{ id: 'x', results: [{ index: 0, relevance_score: 0.5, document: { text: 'a' } }] },
      ...{ usage: { total_tokens: 5 }, meta: { billed_units: { search_units: 1 } } },
    },
  },
  {
    name: 'count of tokens',
    path: '/v1/messages/count_tokens',
    request: asked('anthropic/acme/chat/defra'),
    whole: { input_tokens: 5 },
  },
  {
    name: 'an error',
    path: '/v1/chat/completions',
    request: asked('openai/acme/chat/defra'),
    status: 500,
    whole: { error: { message: 'no', type: 'server_error', code: 'x', param: null, details: [] } },
  },
];
