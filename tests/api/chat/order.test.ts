/**
 * Contract 5: the first check that fails answers. Every pair of the checks that a pin can meet is broken at once, with a
 * snapshot and without one.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GatewayClient, TestAccount } from '../../support/client.js';
import type { YamlObject } from '../../support/gateway-files.js';
import { requestBytes, sendRaw } from '../../support/raw-http.js';
import { model, route } from '../catalogue.js';
import { messages, useGateway } from '../harness.js';
import { startWithoutSnapshot, type WaitingGateway } from '../no-snapshot.js';

interface Attempt {
  path: string;
  withKey: boolean;
  suspended: boolean;
  poor: boolean;
  tooLong: boolean;
  fields: YamlObject;
  provider: string;
  /** The parts of the model's name: what is wrong with it. */
  flaws: string[];
  locode: string;
}

const sound: Attempt = {
  path: '/v1/chat/completions',
  withKey: true,
  suspended: false,
  poor: false,
  tooLong: false,
  fields: {},
  provider: 'acme',
  flaws: [],
  locode: 'defra',
};

interface Check {
  number: number;
  name: string;
  spoiled: Partial<Attempt>;
  status: number;
  code: string | undefined;
}

function check(number: number, name: string, spoiled: Partial<Attempt>, status: number, code?: string): Check {
  return { number, name, spoiled, status, code };
}

const checks: Check[] = [
  check(3, 'no such path', { path: '/v1/chat/nothing' }, 404, 'not_found'),
  check(4, 'no key', { withKey: false }, 401, 'authentication_error'),
  check(5, 'suspended', { suspended: true }, 403, 'account_suspended'),
  check(6, 'content-length', { tooLong: true }, 413, 'request_too_large'),
  check(8, 'no credit', { poor: true }, 402, 'insufficient_credits'),
  check(9, 'bad field', { fields: { temperature: 9 } }, 400, 'invalid_request_error'),
  check(11, 'region not served', { locode: 'zzzzz' }, 404, 'not_found'),
  check(14, 'model disabled', { flaws: ['off'] }, 404, 'model_not_found'),
  check(17, 'not configured', { provider: 'keyless' }, 503, 'provider_not_configured'),
  check(17, 'unpriced', { flaws: ['unpriced'] }, 503, 'provider_error'),
  check(17, 'cannot apply', { flaws: ['plain'], fields: { n: 2 } }, 400),
];

function spoiledBy(broken: readonly Check[]): Attempt {
  const parts = broken.map(({ spoiled }) => spoiled);
  return {
    ...Object.assign({}, sound, ...parts),
    fields: Object.assign({}, ...parts.map(({ fields }) => fields)),
    flaws: parts.flatMap(({ flaws }) => flaws ?? []),
  };
}

const flawSets = ['', 'off', 'unpriced', 'plain'].flatMap((a) => ['', 'off', 'unpriced', 'plain'].map((b) => [a, b]));
const nameOf = (flaws: string[]) => ['m', ...[...new Set(flaws)].filter(Boolean).sort()].join('-');
const models = [...new Set(flawSets.map(nameOf))].map((name) => {
  const more = {
    ...(name.includes('unpriced') && { price: undefined }),
    ...(name.includes('plain') && { capabilities: [] }),
  };
  return model(name, [route(more), route({ ...more, provider: 'keyless' })]);
});

/** By whether they are suspended and whether they are poor. */
type Accounts = Map<string, TestAccount>;
const accountKey = ({ suspended, poor }: Pick<Attempt, 'suspended' | 'poor'>) => `${suspended} ${poor}`;

async function accountsOf(client: GatewayClient): Promise<Accounts> {
  const accounts: Accounts = new Map();
  for (const suspended of [false, true]) {
    for (const poor of [false, true]) {
      const account = await client.createAccount({ credit: poor ? null : '10' });
      if (suspended) await client.admin('PATCH', `/accounts/${account.accountId}`, { status: 'suspended' });
      accounts.set(accountKey({ suspended, poor }), account);
    }
  }
  return accounts;
}

async function send(url: string, accounts: Accounts, broken: readonly Check[]) {
  const attempt = spoiledBy(broken);
  const id = `${attempt.provider}/meta/${nameOf(attempt.flaws)}/${attempt.locode}`;
  const body = attempt.tooLong ? '' : JSON.stringify({ model: id, messages, ...attempt.fields });
  const headers = {
    'content-type': 'application/json',
    connection: 'close',
    ...(attempt.tooLong && { 'content-length': '33554433' }),
    ...(attempt.withKey && { authorization: `Bearer ${accounts.get(accountKey(attempt))!.key}` }),
  };
  const bytes = requestBytes('POST', attempt.path, headers, body);
  const response = await sendRaw(url, bytes, { idleMs: attempt.tooLong ? 200 : 2_000 });
  return { status: response.status, code: (response.json as { error?: { code?: string } }).error?.code };
}

const pairs = checks.flatMap((first, index) =>
  checks.slice(index + 1).map((second) => ({
    first,
    second,
    title: `${first.number} ${first.name} before ${second.number} ${second.name}`,
  })),
);

describe('the order of checks (contract 5)', () => {
  const bench = useGateway({ models });
  let accounts: Accounts;

  beforeAll(async () => {
    accounts = await accountsOf(bench.gateway);
    for (const name of new Set(flawSets.map(nameOf))) {
      if (!name.includes('off')) continue;
      const reply = await bench.gateway.admin('PUT', `/models/meta/${name}/availability`, { state: 'disabled' });
      expect(reply.status).toBe(200);
    }
  });

  it('a request with no flaw is served', async () => {
    expect((await send(bench.gateway.url, accounts, [])).status).toBe(200);
    expect(bench.upstream.calls).toHaveLength(1);
  });

  it.each(checks)('$number $name alone', async (only) => {
    const { status, code } = only;
    expect(await send(bench.gateway.url, accounts, [only])).toEqual({ status, code });
    expect(bench.upstream.calls).toHaveLength(0);
  });

  it.each(pairs)('$title', async ({ first, second }) => {
    const { status, code } = first;
    expect(await send(bench.gateway.url, accounts, [first, second])).toEqual({ status, code });
    expect(bench.upstream.calls).toHaveLength(0);
  });
});

describe('check 10: no routing snapshot yet (§7.1, service_unavailable)', () => {
  let waiting: WaitingGateway;
  let accounts: Accounts;

  beforeAll(async () => {
    waiting = await startWithoutSnapshot();
    accounts = await accountsOf(waiting.client);
  });
  afterAll(() => waiting.stop());

  it.each(checks.filter(({ number }) => number < 10))('$number $name comes before it', async (earlier) => {
    const { status, code } = earlier;
    expect(await send(waiting.url, accounts, [earlier])).toEqual({ status, code });
  });

  it.each(checks.filter(({ number }) => number > 10))('it comes before $number $name', async (later) => {
    expect(await send(waiting.url, accounts, [later])).toEqual({ status: 503, code: 'service_unavailable' });
  });
});
