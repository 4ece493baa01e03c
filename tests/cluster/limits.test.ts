/** Limits are those of the fleet, not of a replica: spread over both, exactly as many requests and tokens pass as at one. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, pause, scaled } from '../faults/fixture.js';
import { DashboardClient } from '../support/dashboard-client.js';
import { LeanCaller, type LeanReply, type Replicas, startReplicas, whileShared } from '../support/replicas.js';
import { completion, type Exchange, hang, json, usage } from '../support/scripted-upstream.js';

const limit = 100;
const requests = scaled(130, 1_000);

let fleet: Replicas;
let callers: LeanCaller[];
let addresses = 0;
beforeAll(async () => {
  const server = { trusted_proxies: ['127.0.0.1/32'], client_ip_header: 'x-forwarded-for' };
  const limits = { ip_requests_per_minute: limit, key_requests_per_minute: 1e6, key_tokens_per_minute: 1e9 };
  fleet = await startReplicas({ config: { server: { host: '127.0.0.1', port: 0, ...server }, limits } });
  callers = fleet.all.map(({ url }) => new LeanCaller(url, 250));
}, 180_000);
afterAll(async () => {
  await Promise.all(callers.map((caller) => caller.close()));
  await fleet.stop();
});

/** An address that nobody had before, so that its own limit is not the one that binds. */
const fromAnywhere = () => ({
  'x-forwarded-for': `10.${(++addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`,
});

async function limitedAccount(limits: { requests_per_minute?: number; tokens_per_minute?: number }) {
  const account = await fleet.a.createAccount();
  await fleet.b.admin('PATCH', `/accounts/${account.accountId}`, { limits });
  return account;
}

/** All at once, to both in turns by default. */
function volley(
  key: (index: number) => string,
  headers: () => Record<string, string>,
  to = callers,
  seen: (reply: LeanReply) => void = () => {},
): Promise<LeanReply[]> {
  const sent = Array.from({ length: requests }, (_, index) =>
    to[index % to.length]!.chat(key(index), ask(), headers()).then((reply) => {
      seen(reply);
      return reply;
    }),
  );
  return Promise.all(sent);
}

const admitted = (replies: LeanReply[]) => replies.filter(({ status }) => status === 200).length;
const figure = ({ headers }: LeanReply, name: string) => Number(headers[`x-ratelimit-${name}`]);

function expectRefusals(replies: LeanReply[], type: string): void {
  for (const { status, text, headers } of replies) {
    if (status === 200) continue;
    expect([status, JSON.parse(text).error.type, JSON.parse(text).error.code]).toEqual([
      429,
      type,
      'rate_limit_exceeded',
    ]);
    expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60);
  }
}

describe(`${requests} requests at once over both replicas`, () => {
  it('of the keys of a project with 100 a minute: exactly 100 pass together, and the headers show the project’s', async () => {
    await whileShared(fleet, async () => {
      const account = await fleet.a.createAccount();
      const path = `/accounts/${account.accountId}`;
      const more = await fleet.a.admin('POST', `${path}/keys`, { name: 'more', expires: 'never' });
      const { id } = (await fleet.a.admin('GET', `${path}/projects`)).json.data[0];
      await fleet.b.admin('PATCH', `${path}/projects/${id}`, { requests_per_minute: limit, tokens_per_minute: 1e6 });
      const keys = [account.key, account.key, more.json.token as string];
      const replies = await volley((index) => keys[index % 3]!, fromAnywhere);
      expect(admitted(replies)).toBe(limit);
      expectRefusals(replies, 'rate_limit_error');
      for (const reply of replies) expect(figure(reply, 'limit-requests')).toBe(limit);
      const tokens = replies.map((reply) => figure(reply, 'limit-tokens'));
      expect(new Set(tokens)).toEqual(new Set([1e6]));
    });
  });

  it('of a key with 100 a minute: exactly 100 pass, for each of two keys, and the headers say so at both', async () => {
    for (let round = 0; round < 2; round++) {
      await whileShared(fleet, async () => {
        const { key } = await limitedAccount({ requests_per_minute: limit });
        const replies = await volley(() => key, fromAnywhere);
        expect(admitted(replies)).toBe(limit);
        expectRefusals(replies, 'rate_limit_error');
        for (const reply of replies) {
          expect(figure(reply, 'limit-requests')).toBe(limit);
          expect(figure(reply, 'remaining-requests')).toBeGreaterThanOrEqual(0);
          expect(figure(reply, 'remaining-requests')).toBeLessThan(limit);
        }
        for (const caller of callers) {
          const after = await caller.chat(key, ask(), fromAnywhere());
          expect([after.status, figure(after, 'remaining-requests')]).toEqual([429, 0]);
        }
      });
    }
  }, 180_000);

  it('of one address with 100 a minute: exactly 100 pass, whatever keys they show', async () => {
    const accounts = await Promise.all([fleet.a, fleet.b, fleet.a].map((replica) => replica.createAccount()));
    const key = (index: number) => accounts[index % accounts.length]!.key;
    for (const address of ['203.0.113', '2001:db8:7']) {
      await whileShared(fleet, async (attempt) => {
        const from = address.includes(':') ? `${address}:${attempt}::1` : `${address}.${attempt}`;
        const replies = await volley(key, () => ({ 'x-forwarded-for': from }));
        expect(admitted(replies)).toBe(limit);
        expectRefusals(replies, 'invalid_request_error');
      });
    }
  }, 180_000);

  it('of a key with 1,300 tokens a minute: as many pass as at one replica alone', async () => {
    const counts: number[] = [];
    for (const to of [callers.slice(0, 1), callers]) {
      await whileShared(fleet, async () => {
        const { key } = await limitedAccount({ tokens_per_minute: 1_300 });
        const count = await heldUntilAllAreIn(() => key, to);
        expect(count).toBe(counts[0] ?? count);
        counts.push(count);
      });
    }
    console.log(`limits: with 1,300 tokens a minute ${counts.join(', ')} of ${requests} pass (one replica, both)`);
    expect(counts[0]).toBeGreaterThan(50);
    expect(counts[0]).toBeLessThan(requests);
  }, 180_000);

  /** No answer is given before every request was admitted or refused, so that no usage corrects an estimate meanwhile. */
  async function heldUntilAllAreIn(key: () => string, to: LeanCaller[]): Promise<number> {
    const before = fleet.upstream.calls.length;
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const answer = json(completion());
    fleet.upstream.onRequest(() => (exchange: Exchange) => released.then(() => answer(exchange)));
    let refused = 0;
    const sent = volley(key, fromAnywhere, to, ({ status }) => {
      if (status === 429) refused++;
    });
    await until(() => refused + fleet.upstream.calls.length - before === requests);
    release();
    const replies = await sent;
    fleet.upstream.onRequest(() => undefined);
    expectRefusals(replies, 'rate_limit_error');
    return admitted(replies);
  }
});

describe('the headers of one key at both replicas in turns', () => {
  it('count down by one with each request, whichever replica it comes to', async () => {
    await whileShared(fleet, async () => {
      const { key } = await limitedAccount({ requests_per_minute: limit });
      for (let sent = 1; sent <= 20; sent++) {
        const reply = await callers[sent % 2]!.chat(key, ask(), fromAnywhere());
        expect([sent, reply.status, figure(reply, 'remaining-requests')]).toEqual([sent, 200, limit - sent]);
        expect(String(reply.headers['x-ratelimit-reset-requests'])).toMatch(/^(1m0s|\d{1,2}s)$/);
      }
    });
  }, 180_000);

  it('tell what remains of the tokens by the usage of the very answer, not by the estimate', async () => {
    fleet.upstream.onRequest(() => json(completion({ usage: usage(20, 10) })));
    await whileShared(fleet, async () => {
      const { key } = await limitedAccount({ tokens_per_minute: 10_000 });
      let sent = 0;
      for (const caller of callers) {
        for (const end = sent + 5; sent < end; ) {
          const reply = await caller.chat(key, ask(), fromAnywhere());
          sent++;
          expect([sent, reply.status, figure(reply, 'remaining-tokens')]).toEqual([sent, 200, 10_000 - 30 * sent]);
        }
        // The word of its last correction may still be on its way to the other one.
        await pause(200);
      }
    });
    fleet.upstream.onRequest(() => undefined);
  }, 180_000);

  it('keep the tokens of a caller that left one replica before the first content, at both', async () => {
    await whileShared(fleet, async () => {
      fleet.upstream.onRequest(() => hang());
      const { key } = await limitedAccount({ tokens_per_minute: 10_000 });
      const call = fleet.upstream.calls.length;
      const leaving = new AbortController();
      const body = ask({ messages: [{ role: 'user', content: 'large '.repeat(5_000) }] });
      const options = { key, headers: fromAnywhere(), signal: leaving.signal };
      const left = fleet.a.chat(body, options).catch(({ name }) => name);
      await until(() => fleet.upstream.calls.length > call);
      leaving.abort();
      expect(await left).toBe('AbortError');
      await until(() => fleet.upstream.calls[call]!.aborted);
      // The record is written with the last word on the tokens.
      const statuses = async () =>
        (await fleet.a.call('GET', '/v1/generations', undefined, { key, headers: fromAnywhere() })).json.data.map(
          ({ status }: { status: number }) => status,
        );
      await expect.poll(statuses, { timeout: 60_000 }).toEqual([499]);
      fleet.upstream.onRequest(() => undefined);
      for (const caller of callers) {
        const reply = await caller.chat(key, body, fromAnywhere());
        expect([reply.status, reply.text]).toEqual([429, expect.stringContaining('tokens')]);
      }
      expect(fleet.upstream.calls).toHaveLength(call + 1);
    });
  }, 180_000);
});

async function until(condition: () => boolean): Promise<void> {
  for (const untilMs = performance.now() + 60_000; !condition() && performance.now() < untilMs; ) await pause(10);
  expect(condition()).toBe(true);
}

it('guesses at a password are counted by the fleet, and both replicas know the browser that signed in at one', async () => {
  await whileShared(fleet, async (attempt) => {
    const owner = { email: `owner${attempt}@example.com`, password: 'correct horse 77' };
    await fleet.a.admin('POST', '/accounts', owner);
    const [browser, elsewhere] = fleet.all.map(({ url }) => new DashboardClient(url));
    const [home, attacker] = [{ headers: fromAnywhere() }, { headers: fromAnywhere() }];
    expect((await browser!.call('POST', 'sign-in', owner, home)).status).toBe(200);
    const guess = (index: number) => {
      const stranger = new DashboardClient(fleet.all[index % 2]!.url);
      return stranger.call('POST', 'sign-in', { ...owner, password: `wrong ${index}` }, attacker);
    };
    const statuses = (await Promise.all(Array.from({ length: 14 }, (_, index) => guess(index)))).map((r) => r.status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(4);
    for (const [name, value] of browser!.cookies) elsewhere!.cookies.set(name, value);
    expect((await elsewhere!.call('POST', 'sign-in', owner, attacker)).status, 'from the same address').toBe(200);
  });
}, 180_000);
