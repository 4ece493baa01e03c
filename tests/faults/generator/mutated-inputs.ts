/**
 * Bytes of good requests, changed at random: flipped, cut, put in, taken out, spliced. Nobody can say what comes of one, but it
 * is never a failure of the service. Each base is refused for one field, so that only a rare change makes it a good request.
 */
import type { SeededRandom } from '../../support/seeded-random.js';
import { bearer, bytesOf, canaryOf, chatPath, type Generator, jsonType, served, type Target } from './input.js';

const anyRefusalOrAnswer = [200, 201, 204, 400, 401, 404, 405, 408, 409, 413, 417, 422, 431];
const headEnd = Buffer.from('\r\n\r\n');

function bases({ key, adminToken }: Target, number: number): Buffer[] {
  const headers = [bearer(key), jsonType];
  const messages = [{ role: 'user', content: canaryOf(number) }];
  const post = (path: string, value: object) => bytesOf({ method: 'POST', path, headers, body: JSON.stringify(value) });
  const chunked = (value: object) => {
    const body = JSON.stringify(value);
    const framed = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    const head = bytesOf({ method: 'POST', path: chatPath, headers: [...headers, ['transfer-encoding', 'chunked']] });
    return Buffer.concat([head, Buffer.from(framed)]);
  };
  const chat = { model: served, messages, max_tokens: 5, stop: ['a', 'b'], temperature: 987654 };
  return [
    post(chatPath, chat),
    post(chatPath, { ...chat, stream: true, stream_options: { include_usage: true } }),
    post(chatPath, { ...chat, messages: [{ role: 'tool', content: 'é\u{1f600}' }] }),
    chunked(chat),
    post('/v1/routes/explain', chat),
    post('/v1/aliases', { name: 'Not A Name', target: 'auto/meta/llama-3.3-70b' }),
    bytesOf({ method: 'PUT', path: '/v1/routing-policy', headers, body: '{"max_carbon":-987654}' }),
    bytesOf({ method: 'GET', path: '/v1/generations?limit=987654', headers }),
    bytesOf({ method: 'GET', path: '/v1/models/acme/meta/nothing/defra', headers }),
    bytesOf({
      method: 'POST',
      path: '/admin/v1/accounts',
      headers: [bearer(adminToken), jsonType],
      body: '{"email":"not an address"}',
    }),
  ];
}

type Mutation = (random: SeededRandom, bytes: Buffer, other: Buffer) => Buffer;

const flip: Mutation = (random, bytes) => {
  const changed = Buffer.from(bytes);
  for (let left = 1 + random.below(4); left > 0; left--) {
    const at = random.below(changed.length);
    changed[at] = random.chance(0.5) ? changed[at]! ^ (1 << random.below(8)) : random.below(256);
  }
  return changed;
};
const cut: Mutation = (random, bytes) => bytes.subarray(0, 1 + random.below(bytes.length));
const takeOut: Mutation = (random, bytes) => {
  const from = random.below(bytes.length);
  return Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + 1 + random.below(40))]);
};
const putIn: Mutation = (random, bytes) => {
  const at = random.below(bytes.length);
  const odd = random.pick(['\r\n', '\n', '\r', '\0', '\r\n\r\n', ' ', '\t', ':', '"', '{', '\\u', '\xff', '0\r\n\r\n']);
  const piece = random.chance(0.6)
    ? Buffer.from(odd, 'latin1')
    : Buffer.from(Array.from({ length: 1 + random.below(20) }, () => random.below(256)));
  return Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)]);
};
const repeat: Mutation = (random, bytes) => {
  const from = random.below(bytes.length);
  const to = Math.min(bytes.length, from + 1 + random.below(200));
  return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)]);
};
const splice: Mutation = (random, bytes, other) =>
  Buffer.concat([bytes.subarray(0, random.below(bytes.length)), other.subarray(random.below(other.length))]);

const mutations = [flip, flip, flip, cut, takeOut, putIn, putIn, repeat, splice];

/** Changes the body alone and says its new length, so that what is read is all of it. */
function inBody(random: SeededRandom, bytes: Buffer, other: Buffer): Buffer {
  const end = bytes.indexOf(headEnd) + headEnd.length;
  if (end >= bytes.length) return random.pick(mutations)(random, bytes, other);
  const body = random.pick(mutations)(random, bytes.subarray(end), other.subarray(other.indexOf(headEnd)));
  const head = bytes.toString('latin1', 0, end).replace(/content-length: \d+/, `content-length: ${body.length}`);
  return Buffer.concat([Buffer.from(head, 'latin1'), body]);
}

function inHead(random: SeededRandom, bytes: Buffer, other: Buffer): Buffer {
  const end = bytes.indexOf(headEnd) + headEnd.length;
  const head = random.pick(mutations)(random, bytes.subarray(0, end), other.subarray(0, other.indexOf(headEnd)));
  return Buffer.concat([head, bytes.subarray(end)]);
}

export const mutatedInput: Generator = (random, target, number) => {
  const all = bases(target, number);
  let bytes = random.pick(all);
  for (let left = 1 + random.below(3); left > 0 && bytes.length > 0; left--) {
    bytes = random.pick([inBody, inHead, random.pick(mutations)])(random, bytes, random.pick(all));
  }
  return {
    family: 'mutated',
    what: JSON.stringify(bytes.toString('latin1', 0, 300)),
    bytes,
    ...(random.chance(0.1) && { pieceBytes: 1 + random.below(100) }),
    kept: false,
    methods: [],
    path: '',
    expected: { status: anyRefusalOrAnswer },
  };
};
