/**
 * The schemas of requests and the checks of the gateway agree. Each example of the document is changed in one place at a time, to values
 * of every kind; whatever the schema allows is accepted, and whatever it forbids is refused.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openApiDocument } from '../../../src/http/openapi/document.js';
import type { Operation } from '../../../src/http/openapi/types.js';
import type { Reply, TestAccount } from '../../support/client.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import { adminToken } from '../../support/gateway-files.js';
import { SeededRandom } from '../../support/seeded-random.js';
import { dependsOnState } from './state.js';

let gateway: TestGateway;
let caller: TestAccount;
/** Whom the operator's requests change, so that nobody suspends the caller. */
let other: TestAccount;

beforeAll(async () => {
  gateway = await startGateway();
  caller = await gateway.createAccount();
  other = await gateway.createAccount();
});
afterAll(() => gateway?.stop());

const ajv = new Ajv2020({ strict: false, validateSchema: false });
addFormats.default(ajv);
ajv.addSchema({ ...openApiDocument, $id: 'document' });

const chats: readonly unknown[] = [
  {
    model: 'auto/lodestone/echo',
    messages: [
      { role: 'system', content: 'Be brief.', name: 'ada' },
      { role: 'assistant', content: null, tool_calls: [] },
      { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: 'x' }] },
    ],
    stream: true,
    stream_options: { include_usage: true },
    temperature: 1,
    top_p: 0.5,
    frequency_penalty: -2,
    presence_penalty: 2,
    max_tokens: 5,
    max_completion_tokens: 5,
    n: 1,
    stop: ['a', 'b'],
    response_format: { type: 'text' },
    logprobs: false,
    logit_bias: {},
    tools: [],
    tool_choice: 'auto',
    fallback: { models: ['auto/lodestone/echo', 'sandbox/lodestone/echo', 'sandbox/lodestone/regions/defra'] },
    own_field: 1,
  },
  { model: 'alias/fast', messages: [{ role: 'user', content: 'Hello' }] },
];

const bodies: readonly { path: string; method: 'post' | 'put' | 'patch'; more?: readonly unknown[] }[] = [
  { path: '/v1/chat/completions', method: 'post', more: chats },
  { path: '/v1/routes/explain', method: 'post', more: chats },
  { path: '/v1/aliases', method: 'post', more: [{ name: 'a', target: { provider: 'auto', canonical_id: 'x/y' } }] },
  { path: '/v1/aliases/{name}', method: 'put', more: [{ target: 'sandbox/lodestone/regions/defra' }] },
  { path: '/v1/fallback', method: 'put' },
  {
    path: '/v1/routing-policy',
    method: 'put',
    more: [
      {
        object: 'routing_policy',
        deny_cloud_act: false,
        max_carbon: 300,
        max_price: 2.5,
        providers: { allow: ['sandbox'], deny: ['acme'] },
        creators: { allow: ['meta'], deny: ['qwen'] },
        regions: { allow: ['DE'], deny: ['sesto'] },
        prefer: 'price',
      },
    ],
  },
  {
    path: '/admin/v1/accounts',
    method: 'post',
    more: [{ email: 'grace@example.com', name: 'Grace', password: 'correct horse battery', billing_country: 'US' }],
  },
  { path: '/admin/v1/accounts/{id}', method: 'patch', more: [{ status: 'active', billing_country: 'FR' }] },
  { path: '/admin/v1/accounts/{id}/password', method: 'put' },
  { path: '/admin/v1/accounts/{id}/credits', method: 'post' },
  { path: '/admin/v1/accounts/{id}/keys', method: 'post', more: [{ name: 'x', expires: '12mo' }] },
  { path: '/admin/v1/accounts/{id}/keys/{key_id}', method: 'patch', more: [{ name: 'x', allowed_models: ['a/b'] }] },
  { path: '/admin/v1/models/{creator}/{model}/availability', method: 'put' },
];

const absent = Symbol('absent');
const values: readonly unknown[] = [
  absent,
  ...[
    null,
    true,
    false,
    0,
    1,
    -1,
    1.5,
    3,
    1e300,
    '',
    ' ',
    '\u00a0',
    'x',
    'X',
    '0',
    'auto',
    'alias',
    'defra',
    'GLOBAL',
    'DE',
  ],
  ...['a\u0000b', 'a\nb', '\u0085', 'é', '\u212a', '🧭'.repeat(100), 'a'.repeat(64), 'a'.repeat(65), 'a'.repeat(600)],
  ...[
    '10.00',
    '-2.5',
    '0.00',
    '1e3',
    '.5',
    '٣',
    '7d',
    '0d',
    '366d',
    '367d',
    '99999d',
    '12mo',
    '13mo',
    'never',
    '2020-01-01',
  ],
  ...[
    'auto/a',
    'auto/lodestone/echo',
    'auto/a/b/c',
    'alias/x',
    'alias/X',
    'a/b/c',
    'a//c',
    '/a/b',
    'a/b/c/',
    'a/b/c/d/e',
  ],
  ...[
    'a@b.co',
    ' a@b.co ',
    'A.b+c@d-e.example',
    '.a@b.co',
    'a..b@b.co',
    `${'a'.repeat(250)}@b.co`,
    'a@b',
    'tool',
    'user',
  ],
  ...[[], [''], ['x'], [1], [null], ['a', 'b', 'c', 'd', 'e'], Array(11).fill('auto/lodestone/echo'), {}, { x: 1 }],
];

/** Every change of one place of a value, with an unknown field in every object. */
function* changes(value: unknown): Generator<unknown> {
  yield* values;
  if (Array.isArray(value)) {
    for (const [index, entry] of value.entries())
      for (const changed of changes(entry)) if (changed !== absent) yield value.with(index, changed);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, field] of [...Object.entries(value), ['unknown_field', 'x'] as const])
      for (const changed of changes(field)) yield withField(value, name, changed);
  }
}

function withField(value: object, name: string, field: unknown): object {
  const { [name]: _, ...rest } = value as Record<string, unknown>;
  return field === absent ? rest : { ...value, [name]: field };
}

function schemaOf(path: string, method: string): ValidateFunction {
  const escaped = encodeURIComponent(path.replaceAll('~', '~0').replaceAll('/', '~1'));
  return ajv.getSchema(`document#/paths/${escaped}/${method}/requestBody/content/application~1json/schema`)!;
}

/** A 404 is about what the body names: the body itself was accepted. */
function accepts({ status }: Reply): boolean {
  return status < 300 || status === 404;
}

const remove = (path: string) => gateway.call('DELETE', path, undefined, { key: caller.key });

/** Where schema and check once differed. */
const question = { model: 'auto/lodestone/echo', messages: [{ role: 'user', content: 'Hello' }] };
const differed: readonly { path: string; body: unknown }[] = [
  { path: '/v1/chat/completions', body: { ...question, fallback: { models: null } } },
  { path: '/v1/chat/completions', body: { ...question, fallback: { models: [''] } } },
  { path: '/v1/chat/completions', body: { ...question, messages: [{ role: 'tool', content: 'x' }] } },
  { path: '/v1/chat/completions', body: { ...question, model: '' } },
  { path: '/v1/routing-policy', body: { prefer: null } },
  { path: '/v1/routing-policy', body: { regions: { allow: [''] } } },
  { path: '/v1/routing-policy', body: { unknown_field: 1 } },
  { path: '/v1/fallback', body: { fallback: { models: [''] } } },
  { path: '/v1/aliases', body: { name: 'a', provider: '-Infinity', canonical_id: 'a/b' } },
  { path: '/v1/aliases/{name}', body: { provider: 'No slug', canonical_id: 'a/b' } },
  { path: '/admin/v1/accounts', body: { email: '0'.repeat(250) } },
  { path: '/admin/v1/accounts', body: { email: 'b@example.com', name: '🧭'.repeat(150) } },
  { path: '/admin/v1/accounts/{id}/credits', body: { amount_usd: '' } },
  { path: '/admin/v1/accounts/{id}/credits', body: { amount_usd: '0.0' } },
  { path: '/admin/v1/accounts/{id}/keys', body: { name: 'x', expires: 'soon' } },
];

/** All of them take a quarter of a minute, so an ordinary run tries a part, the same each time. */
function sample<T>(items: readonly T[]): T[] {
  const random = new SeededRandom(18);
  const kept = 80 / items.length;
  return items.filter((_, index) => index === 0 || random.chance(kept));
}

async function send(path: string, method: string, body: unknown): Promise<Reply> {
  const values: Record<string, string> = {
    id: other.accountId,
    name: 'fast',
    creator: 'lodestone',
    model: 'slow',
    key_id: other.keyId,
  };
  const address = path.replace(/\{(\w+)\}/g, (_, name) => values[name]!);
  return gateway.call(method.toUpperCase(), address, JSON.stringify(body), {
    key: path.startsWith('/admin') ? adminToken : caller.key,
    headers: { 'content-type': 'application/json' },
  });
}

describe('the schema of a request and the check of the gateway agree', () => {
  it.each(bodies)('$method $path', async ({ path, method, more = [] }) => {
    const operation = openApiDocument.paths[path]![method] as Operation;
    const examples = Object.values(operation.requestBody!.content['application/json']!.examples ?? {});
    const seeds = [...examples.map((example) => (example as { value: unknown }).value), ...more];
    const sent = new Map<string, unknown>();
    for (const seed of seeds) {
      for (const body of [seed, ...changes(seed)]) if (body !== absent) sent.set(JSON.stringify(body), body);
    }
    const tried = process.env.LODESTONE_FULL ? [...sent.values()] : sample([...sent.values()]);
    if (path === '/v1/aliases/{name}')
      await send('/v1/aliases', 'post', { name: 'fast', target: 'auto/lodestone/echo' });
    const validate = schemaOf(path, method);
    const wrong: string[] = [];
    let refused = 0;
    await inParallel(
      [...tried, ...differed.filter((one) => one.path === path).map(({ body }) => body)],
      async (body) => {
        const allowed = validate(body);
        const reply = await send(path, method, body);
        if (reply.status === 201 && reply.json.object === 'alias') await remove(`/v1/aliases/${reply.json.name}`);
        if (reply.status === 409) return;
        const accepted = accepts(reply);
        if (!accepted) refused++;
        if (allowed === accepted || (allowed && dependsOnState(reply))) return;
        wrong.push(
          `${allowed ? 'allowed, but refused' : 'forbidden, but accepted'}: ${JSON.stringify(body).slice(0, 300)} ${reply.text.slice(0, 200)}`,
        );
      },
    );
    expect(wrong).toEqual([]);
    // Both directions were tried.
    expect(refused).toBeGreaterThan(5);
    expect(tried.length - refused).toBeGreaterThan(1);
  });

  it.each(['/v1/generations', '/admin/v1/audit', '/admin/v1/accounts/{id}/ledger'])('the limit of %s', async (path) => {
    const { schema } = openApiDocument.paths[path]!.get!.parameters!.find(({ name }) => name === 'limit')!;
    const { minimum, maximum } = schema as { minimum: number; maximum: number };
    for (const [limit, accepted] of [
      [minimum, true],
      [maximum, true],
      [minimum - 1, false],
      [maximum + 1, false],
      ['', false],
      ['x', false],
      ['1.5', false],
    ]) {
      const reply = await send(`${path}?limit=${limit}`, 'get', undefined);
      expect({ limit, accepted: accepts(reply) }).toEqual({ limit, accepted });
    }
  });
});

async function inParallel<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let item = left.pop(); item !== undefined; item = left.pop()) await act(item);
    }),
  );
}
