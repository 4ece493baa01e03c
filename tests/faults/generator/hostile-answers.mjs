/**
 * Answers of providers in which one member is large: every member of a whole answer and of each frame of a stream, and an unknown one in
 * each object, in every API that a provider may speak. The value itself is one of `large-values.mjs`.
 */
import { crc32 } from 'node:zlib';
import { answerTemplates } from './answer-templates.mjs';
import { largeShapes, largeValue } from './large-values.mjs';

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
  if (Array.isArray(value)) return value.flatMap((entry, at) => pathsIn(entry, [...path, at]));
  if (value === null || typeof value !== 'object') return [];
  const members = Object.keys(value).flatMap((name) => [[...path, name], ...pathsIn(value[name], [...path, name])]);
  return [...members, [...path, 'unknown']];
}

const framesOf = ({ frames = [] }) => frames.map(([, data], at) => ({ at, data }));

/**
 * Every member, whole and in each frame, in one frame and in many of a mebibyte, in every shape. A case is plain data:
 * `{ api, form, frame, path, shape }`.
 */
export const hostileAnswers = answerTemplates.flatMap((api) => {
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
  const { path, request } = answerTemplates.find((api) => api.name === name);
  return { path, body: JSON.stringify(form === 'whole' ? request : { ...request, stream: true }) };
}

const mark = '\u0001large\u0001';
const frameBytes = 1024 * 1024;

/** What the provider sends: status, content type and body, in pieces. */
export function answerOf({ api: name, form, frame, path, shape }, bytes) {
  const api = answerTemplates.find((each) => each.name === name);
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
