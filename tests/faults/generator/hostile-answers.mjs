/**
 * Answers of providers in which one member is large: every member of a whole answer and of each frame of a stream, and an unknown one in
 * each object, in every API that a provider may speak. The value itself is one of `large-values.mjs`.
 */
import { crc32 } from 'node:zlib';
import { largeShapes, largeValue } from './large-values.mjs';

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
const apis = [
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

/** One provider for each dialect, all at one address, and one for the co-tenant. */
export function hostileCatalogue(url, coTenantUrl) {
  const provider = (id, more) => ({
    ...{ id, name: id, dialect: 'openai', base_url: `${url}/v1`, auth: 'none', headquarters: 'DE', ...more },
  });
  const route = (id) => ({
    ...{ provider: id, locode: 'defra', upstream_model: 'upstream-model' },
    price: { input: 0.6, output: 0.8, cached_input: 0.3 },
    capabilities: ['tools', 'logprobs', 'n'],
  });
  const task = (kind) => ({
    ...{ creator: 'acme', model: kind, kind },
    routes: [{ provider: 'plain', locode: 'defra', upstream_model: 'upstream-model', price: { input: 3, output: 0 } }],
  });
  const chat = ['openai', 'plain', 'anthropic', 'gemini', 'bedrock', 'co'];
  return {
    providers: [
      provider('openai', { apis: ['responses'] }),
      provider('plain'),
      provider('anthropic', { dialect: 'anthropic' }),
      provider('gemini', { dialect: 'gemini' }),
      provider('bedrock', { dialect: 'bedrock' }),
      provider('co', { base_url: `${coTenantUrl}/v1` }),
    ],
    regions: [{ locode: 'defra', city: 'Frankfurt', country: 'DE', lat: 50.1, lon: 8.7, carbon: 344 }],
    models: [
      {
        ...{ creator: 'acme', model: 'chat', context_window: 131_072, max_output_tokens: 8_192 },
        routes: chat.map(route),
      },
      task('embedding'),
      task('rerank'),
    ],
  };
}

/** The paths of all members of a value, and of a member that it does not have in each of its objects. */
function pathsIn(value, path = []) {
  if (Array.isArray(value)) return value.length === 0 ? [] : pathsIn(value[0], [...path, 0]);
  if (value === null || typeof value !== 'object') return [];
  const members = Object.keys(value).flatMap((name) => [[...path, name], ...pathsIn(value[name], [...path, name])]);
  return [...members, [...path, 'unknown']];
}

const framesOf = ({ frames = [] }) => frames.map(([, data], at) => ({ at, data }));

/**
 * Every member, whole and in each frame, in one frame and in many of a mebibyte, in every shape. A case is plain data:
 * `{ api, form, frame, path, shape }`.
 */
export const hostileAnswers = apis.flatMap((api) => {
  const places = [
    ...pathsIn(api.whole).map((path) => ({ form: 'whole', frame: 0, path })),
    ...['one frame', 'many frames'].flatMap((form) =>
      framesOf(api).flatMap(({ at, data }) => pathsIn(data).map((path) => ({ form, frame: at, path }))),
    ),
  ];
  return places.flatMap((place) => largeShapes.map((shape) => ({ api: api.name, ...place, shape })));
});

export function titleOf({ api, form, frame, path, shape }) {
  return `${api}, ${form === 'whole' ? form : `${form} (${frame})`}, ${path.join('.')}: ${shape}`;
}

/** What the client sends. */
export function requestOf({ api: name, form }) {
  const { path, request } = apis.find((api) => api.name === name);
  return { path, body: JSON.stringify(form === 'whole' ? request : { ...request, stream: true }) };
}

const mark = '\u0001large\u0001';
const frameBytes = 1024 * 1024;

/** What the provider sends: status, content type and body, in pieces. */
export function answerOf({ api: name, form, frame, path, shape }, bytes) {
  const api = apis.find((each) => each.name === name);
  const { status = 200 } = api;
  if (form === 'whole') {
    return { status, type: 'application/json', pieces: [Buffer.from(filled(api.whole, path, shape, bytes), 'latin1')] };
  }
  const frameText = api.isAmazon ? amazonFrame : sseFrame;
  const pieces = api.frames.flatMap(([event, data], at) => {
    if (at !== frame) return [frameText(event, JSON.stringify(data))];
    if (form === 'one frame') return [frameText(event, filled(data, path, shape, bytes))];
    const one = frameText(event, filled(data, path, shape, Math.min(bytes, frameBytes)));
    return Array.from({ length: Math.max(1, Math.round(bytes / frameBytes)) }, () => one);
  });
  const type = api.isAmazon ? 'application/vnd.amazon.eventstream' : 'text/event-stream';
  return { status, type, pieces: [...pieces, ...(api.isAmazon ? [] : [sseFrame('', '[DONE]')])] };
}

/** The JSON of a value whose member at the path is large. */
function filled(value, path, shape, bytes) {
  const copy = structuredClone(value);
  const parent = path.slice(0, -1).reduce((at, name) => at[name], copy);
  parent[path.at(-1)] = mark;
  const [before, after] = JSON.stringify(copy).split(JSON.stringify(mark));
  return before + largeValue(shape, bytes) + after;
}

function sseFrame(event, data) {
  return Buffer.from(`${event === '' ? '' : `event: ${event}\n`}data: ${data}\n\n`, 'latin1');
}

function amazonFrame(event, payload) {
  const headers = { ':event-type': event, ':content-type': 'application/json', ':message-type': 'event' };
  const head = Buffer.concat(
    Object.entries(headers).flatMap(([name, value]) => [
      Buffer.from([name.length]),
      Buffer.from(name),
      Buffer.from([7, value.length >> 8, value.length & 255]),
      Buffer.from(value),
    ]),
  );
  const body = Buffer.from(payload, 'latin1');
  const prelude = Buffer.concat([word(16 + head.length + body.length), word(head.length)]);
  const checked = Buffer.concat([prelude, word(crc32(prelude)), head, body]);
  return Buffer.concat([checked, word(crc32(checked))]);
}

function word(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
