/** Requests to everything but the chat: bad names, bodies, ids and queries for the API of accounts and for that of operators. */
import type { SeededRandom } from '../../support/seeded-random.js';
import { adminCase } from './admin-cases.js';
import { hostileId } from './chat-faults.js';
import { type ControlCase, invalid, json, longText, segment } from './control-case.js';
import { bodyThatIsNoObject, hostileText, valueNotOf } from './hostile-values.js';
import { bearer, bytesOf, type Expected, type Generator, jsonType, oneOf, served } from './input.js';

const aliasRule = /^[a-z0-9][a-z0-9_-]{0,63}$/;

function aliasName(random: SeededRandom): ControlCase {
  const drawn = hostileText(random);
  const name = aliasRule.test(drawn) ? `${drawn}!` : drawn;
  const named = random.chance(0.7) ? json(name) : valueNotOf(random, 'string');
  const body = `{"name":${named},"target":"auto/meta/llama-3.3-70b"}`;
  return {
    method: 'POST',
    path: '/v1/aliases',
    body,
    expected: { status: [400], code: ['invalid_alias_name'], param: ['name'] },
  };
}

const badTarget: Expected = { status: [422], code: ['invalid_alias_target'], param: ['target'] };

function aliasTarget(random: SeededRandom): ControlCase {
  const id = hostileId(random);
  const shapes = [
    {},
    { target: id.replace(/^auto\/meta\/llama-3\.3-70b$/, '') },
    { target: null },
    { target: 1 },
    { target: [] },
    { target: { provider: 'acme' } },
    { target: { provider: 'auto', canonical_id: 'meta/llama-3.3-70b', locode: 'defra' } },
    { target: { provider: hostileText(random), canonical_id: 'meta/llama-3.3-70b', locode: 'defra' } },
    { target: { provider: 'acme', canonical_id: hostileText(random), locode: 'defra' } },
    { provider: 'acme', canonical_id: 'meta/llama-3.3-70b', locode: `x${hostileText(random)}` },
    { provider: 'acme', canonical_id: 'meta/llama-3.3-70b', locode: 'defra', target: served },
    { provider: ['acme'], canonical_id: { a: 1 } },
  ];
  return {
    method: 'POST',
    path: '/v1/aliases',
    body: json({ name: 'good-name', ...random.pick(shapes) }),
    expected: badTarget,
  };
}

function aliasUnknown(random: SeededRandom): ControlCase {
  const path = `/v1/aliases/${random.chance(0.1) ? longText(random) : segment(hostileText(random))}`;
  const method = random.pick(['GET', 'PUT', 'PATCH', 'DELETE']);
  const body = method === 'GET' || method === 'DELETE' ? {} : { body: json({ target: 'auto/meta/llama-3.3-70b' }) };
  return {
    method,
    path,
    ...body,
    expected: { status: [404], code: ['alias_not_found', 'not_found'], param: ['name', null] },
  };
}

function fallback(random: SeededRandom): ControlCase {
  const id = hostileId(random);
  const unknownId: Expected = { status: [400], code: ['invalid_fallback_model'], param: ['fallback.models'] };
  const [body, expected] = random.pick<readonly [string, Expected]>([
    ['{}', invalid('fallback.models')],
    ['{"fallback":{}}', invalid('fallback.models')],
    [`{"fallback":${valueNotOf(random, 'object')}}`, invalid('fallback')],
    [`{"fallback":{"models":${valueNotOf(random, 'array')}}}`, invalid('fallback.models')],
    ['{"fallback":{"models":[1]}}', invalid('fallback.models')],
    [json({ fallback: { models: Array.from({ length: 11 }, () => served) } }), invalid('fallback.models')],
    [json({ fallback: { models: [served, id] } }), unknownId],
  ]);
  return { method: 'PUT', path: '/v1/fallback', body, expected };
}

function policy(random: SeededRandom): ControlCase {
  const lists = random.pick(['providers', 'creators', 'regions']);
  const ceiling = random.pick(['max_carbon', 'max_price']);
  const odd = `x${hostileText(random)}`.slice(0, 90);
  const [body, param] = random.pick<readonly [string, string]>([
    [json({ [odd]: 1 }), odd],
    [json({ __proto__: null, constructor: 1 }), 'constructor'],
    [`{"deny_cloud_act":${valueNotOf(random, 'boolean')}}`, 'deny_cloud_act'],
    [`{"${ceiling}":${random.pick(['-1', '1e999', '-1e999', '"1"', 'true', '[]', '{}'])}}`, ceiling],
    [`{"prefer":${random.pick(['1', '"PRICE"', '"__proto__"', '[]', 'true', '""'])}}`, 'prefer'],
    [`{"${lists}":${valueNotOf(random, 'object')}}`, lists],
    [`{"${lists}":{"allow":${valueNotOf(random, 'array')}}}`, `${lists}.allow`],
    [`{"${lists}":{"deny":[${valueNotOf(random, 'string')}]}}`, `${lists}.deny`],
    [`{"${lists}":{"constructor":[]}}`, `${lists}.constructor`],
    [json({ regions: { allow: [`${odd}-nowhere`] } }), 'regions.allow'],
  ]);
  return { method: 'PUT', path: '/v1/routing-policy', body, expected: invalid(param) };
}

function notAnObject(random: SeededRandom): ControlCase {
  const [method, path] = random.pick([
    ['POST', '/v1/aliases'],
    ['PUT', '/v1/fallback'],
    ['PUT', '/v1/routing-policy'],
    ['POST', '/admin/v1/accounts'],
  ] as const);
  const body = bodyThatIsNoObject(random, '{"name":"n","target":"t"}');
  return { method, path, body, expected: invalid(null) };
}

function generations(random: SeededRandom): ControlCase {
  const text = random.chance(0.1) ? longText(random).slice(0, 4_000) : segment(hostileText(random));
  const get = (path: string, expected: Expected): ControlCase => ({ method: 'GET', path, expected });
  const limit = random.pick(['0', '101', '-1', '1e2', '1.5', 'abc', '99999999999999999999', '%00', '1&limit=2', '%ff']);
  return random.pick([
    get(`/v1/generations?limit=${limit}`, invalid('limit')),
    get(`/v1/generations?after=${text}&key=${text}&model=${text}`, { status: [200, 400] }),
    get(`/v1/generations?after[]=${text}&__proto__=${text}&constructor=1&${text}`, { status: [200, 400] }),
    get(`/v1/generation/${text}`, { status: [404, 400], param: ['id', null] }),
    get(`/v1/generation?id=${text}`, { status: [404, 400], param: ['id'] }),
    get('/v1/generation', invalid('id')),
    get('/v1/generation?id=a&id=b', invalid('id')),
  ]);
}

function models(random: SeededRandom): ControlCase {
  const id = random.chance(0.1) ? `auto/${longText(random)}/x` : hostileId(random);
  const path = `/v1/models/${random.chance(0.5) ? id.split('/').map(segment).join('/') : segment(id)}`;
  return { method: 'GET', path, expected: { status: [404], param: ['model', null] } };
}

const methods = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'QUERY',
  'PROPFIND',
  'M-SEARCH',
  'PURGE',
];
const paths = ['/v1/chat/completions', '/v1/models', '/v1/aliases', '/v1/fallback', '/v1/credits', '/v1/key'];

/** No pair of these answers anything but what the key, the path and the method allow; none of them changes anything. */
function methodAndPath(random: SeededRandom): ControlCase {
  const trick = (path: string) =>
    random.pick([
      `/${path}`,
      path.replace('/v1', '/v1/.'),
      path.replace('/v1', '/v1/../v1'),
      path.replace('/v1', '/v1/%2e%2e/v1'),
      path.replace('/v1/', '/v1%2f'),
      `${path}/`,
      `${path};x`,
      `${path}%00`,
      `${path}%`,
      `${path}%ff`,
      `${path}.json`,
      path.toUpperCase(),
      `${path}/${segment(hostileText(random))}/x`,
      `/${'a/'.repeat(random.below(3_000))}`,
      `/v1/${segment(hostileText(random))}`,
    ]);
  const path = trick(random.pick(paths));
  return { method: random.pick(methods), path, expected: { status: [404, 405, 204, 400] } };
}

const cases: readonly (readonly [number, (random: SeededRandom, accountId: string) => ControlCase])[] = [
  [3, aliasName],
  [3, aliasTarget],
  [2, aliasUnknown],
  [3, fallback],
  [4, policy],
  [2, notAnObject],
  [3, generations],
  [3, models],
  [4, methodAndPath],
  [6, adminCase],
];

export const controlInput: Generator = (random, target) => {
  const { method, path, body, expected } = oneOf(random, cases)(random, target.accountId);
  const isAdmin = path.startsWith('/admin');
  const headers = [bearer(isAdmin ? target.adminToken : target.key), ...(body === undefined ? [] : [jsonType])];
  return {
    family: 'control',
    what: `${method} ${path.slice(0, 100)} ${String(body ?? '').slice(0, 100)}`,
    bytes: bytesOf({ method, path, headers, body }),
    kept: true,
    methods: [method],
    path,
    expected,
  };
};
