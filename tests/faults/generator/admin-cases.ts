/** Bad requests of an operator: the right token with the wrong fields, ids and amounts, and the wrong token with anything. */
import type { SeededRandom } from '../../support/seeded-random.js';
import { type ControlCase, invalid, json, notFound, segment } from './control-case.js';
import { hostileText, valueNotOf } from './hostile-values.js';

type Case = (random: SeededRandom, accountId: string) => ControlCase;
const admin = '/admin/v1';

const account: Case = (random) => {
  const address = `${hostileText(random)}@@x`;
  const [body, param] = random.pick<readonly [string, string]>([
    ['{}', 'email'],
    [json({ email: address.slice(0, 200) }), 'email'],
    [`{"email":${valueNotOf(random, 'string')}}`, 'email'],
    [json({ email: 'a@example.test', name: 'a\nb' }), 'name'],
    [json({ email: 'a@example.test', name: '\ud800' }), 'name'],
    [json({ email: 'a@example.test', name: 'x'.repeat(201) }), 'name'],
    [json({ email: 'a@example.test', password: 'short' }), 'password'],
    [json({ email: 'a@example.test', billing_country: 'DEU' }), 'billing_country'],
    [json({ email: 'a@example.test', constructor: 1 }), 'constructor'],
    ['{"email":"a@example.test","__proto__":{"admin":true}}', '__proto__'],
  ]);
  return { method: 'POST', path: `${admin}/accounts`, body, expected: invalid(param) };
};

const accountChange: Case = (random, id) => {
  const [body, param] = random.pick<readonly [string, string]>([
    ['{"status":"deleted"}', 'status'],
    [`{"status":${valueNotOf(random, 'string')}}`, 'status'],
    ['{"billing_country":"\\u0000\\u0000"}', 'billing_country'],
    [`{"limits":${valueNotOf(random, 'object')}}`, 'limits'],
    ['{"limits":{"requests_per_minute":0}}', 'limits.requests_per_minute'],
    ['{"limits":{"tokens_per_minute":1e999}}', 'limits.tokens_per_minute'],
    ['{"limits":{"requests_per_minute":1.5}}', 'limits.requests_per_minute'],
    ['{"limits":{"toString":1}}', 'limits.toString'],
    ['{"balance_usd":"1000000"}', 'balance_usd'],
  ]);
  return { method: 'PATCH', path: `${admin}/accounts/${id}`, body, expected: invalid(param) };
};

const credit: Case = (random, id) => {
  const amounts = ['', '0', '1e3', '١', '1.', '.5', '+1', '1,0', '0.0000000000001', '9'.repeat(16), ' 1', 'NaN', '--1'];
  const amount = random.chance(0.8) ? json(random.pick(amounts)) : valueNotOf(random, 'string');
  const note = json(random.pick(['a\u0000b', 'x'.repeat(501), '\ud800']));
  const [body, param] = random.chance(0.7)
    ? [`{"amount_usd":${amount}}`, 'amount_usd']
    : [`{"amount_usd":"1.00","note":${note}}`, 'note'];
  return { method: 'POST', path: `${admin}/accounts/${id}/credits`, body, expected: invalid(param) };
};

const key: Case = (random, id) => {
  const times = [
    '',
    '0d',
    '13mo',
    '366000d',
    '-1d',
    '90',
    '2020-01-01T00:00:00Z',
    '2027-02-30T00:00:00Z',
    'NEVER',
    '1e1d',
  ];
  const [body, param] = random.pick<readonly [string, string]>([
    ['{}', 'name'],
    [json({ name: '' }), 'name'],
    [json({ name: `a\n{"level":60}` }), 'name'],
    [json({ name: 'k', expires: random.pick(times) }), 'expires'],
    [`{"name":"k","expires":${valueNotOf(random, 'string')}}`, 'expires'],
    [json({ name: 'k', token: 'sk-lr-chosen-by-the-caller' }), 'token'],
  ]);
  return { method: 'POST', path: `${admin}/accounts/${id}/keys`, body, expected: invalid(param) };
};

/** An id that names nothing, wherever an id can stand. */
const unknownId: Case = (random, id) => {
  const odd = segment(`no-${hostileText(random)}`);
  const [method, path, body] = random.pick<readonly [string, string, string?]>([
    ['GET', `/accounts/${odd}`],
    ['GET', `/accounts/${odd}/ledger`],
    ['GET', `/accounts/${odd}/keys`],
    ['PATCH', `/accounts/${odd}`, '{"status":"active"}'],
    ['POST', `/accounts/${odd}/credits`, '{"amount_usd":"1"}'],
    ['POST', `/accounts/${odd}/keys`, '{"name":"k"}'],
    ['DELETE', `/accounts/${id}/keys/${odd}`],
    ['PUT', `/models/${odd}/${odd}/availability`, '{"state":"available"}'],
    ['DELETE', `/routes/${odd}/meta/llama-3.3-70b/defra/hold`],
    ['DELETE', '/routes/acme/meta/llama-3.3-70b/defra/hold'],
  ]);
  return { method, path: admin + path, ...(body !== undefined && { body }), expected: notFound };
};

const availability: Case = (random) => {
  const state = random.chance(0.5) ? json(`x${hostileText(random)}`) : valueNotOf(random, 'string');
  const path = `${admin}/models/meta/llama-3.3-70b/availability`;
  return { method: 'PUT', path, body: `{"state":${state}}`, expected: invalid('state') };
};

const query: Case = (random, id) => {
  const limit = random.pick(['0', '-1', 'x', '1e1', '99999999999', '1&limit=2']);
  const path = random.pick([`/audit?limit=${limit}`, `/accounts/${id}/ledger?limit=${limit}`]);
  return { method: 'GET', path: admin + path, expected: invalid('limit') };
};

const cases: readonly Case[] = [account, accountChange, credit, key, unknownId, unknownId, availability, query];

export const adminCase: Case = (random, accountId) => random.pick(cases)(random, accountId);
