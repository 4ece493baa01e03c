/** Outside the chat path the same checks run in the same order, except credits, which only a chat needs. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import type { YamlObject } from '../../support/gateway-files.js';
import { ManualClock } from '../../support/manual-clock.js';
import { type ScriptedUpstream, startUpstream } from '../../support/scripted-upstream.js';
import { Accounts, behindProxy, busyAddress, check, pairsOf, send, spoiledBy, useUpAddress } from './attempt.js';
import { catalogue } from './chat-checks.js';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let accounts: Accounts;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({ catalogue: catalogue(upstream.url), config: behindProxy, clock: new ManualClock() });
  accounts = new Accounts(gateway, 'acme/meta/pin');
  await useUpAddress(gateway.url);
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

const path = '/v1/aliases';
const checks = [
  check(1, 'sanctioned territory', { country: 'IR' }, 451, 'unavailable_for_legal_reasons'),
  check(2, 'per-IP limit', { address: busyAddress }, 429, 'rate_limit_exceeded'),
  check(3, 'no such path', { path: '/v1/aliasses' }, 404, 'not_found'),
  check(3, 'no such method', { method: 'PUT' }, 405, 'method_not_allowed'),
  check(4, 'no key', { withKey: false }, 401, 'authentication_error'),
  check(5, 'billing country', { billedInIran: true }, 451, 'unavailable_for_legal_reasons'),
  check(5, 'suspended', { suspended: true }, 403, 'account_suspended'),
  check(6, 'content-length', { tooLong: true }, 413, 'request_too_large'),
  check(7, 'per-key requests', { overRequests: true }, 429, 'rate_limit_exceeded'),
  check(9, 'bad field', { fields: { name: 'No Such Name' } }, 400, 'invalid_alias_name'),
];
const pairs = pairsOf(checks, (first, second) => first.number !== second.number || first.number === 5);

const answered = (broken: typeof checks, body: YamlObject = { name: 'a', target: 'auto/meta/auto' }) =>
  send(gateway.url, accounts, spoiledBy(broken, { path }), body);

describe('the order of checks on POST /v1/aliases', () => {
  it.each(checks)('$number $name alone', async (only) => {
    expect(await answered([only])).toEqual({ status: only.status, code: only.code });
  });

  it.each(pairs)('$title', async ({ first, second }) => {
    expect(await answered([first, second])).toEqual({ status: first.status, code: first.code });
  });

  it.each([
    check(8, 'no credit', { poor: true }, 201),
    check(13, 'per-key tokens', { overTokens: true }, 201),
    check(15, 'policy', { gated: true }, 201),
  ])('$number $name is a chat’s check and stops nobody here', async (flaw) => {
    expect(await answered([flaw])).toEqual({ status: 201, code: undefined });
  });
});
