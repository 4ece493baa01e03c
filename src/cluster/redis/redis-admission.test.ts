import { describe, expect, it } from 'vitest';
import { useRedis, withinReach } from '../../../tests/support/redis-shared-state.js';
import type { AdmissionAsk } from '../ports.js';
import type { SharedState } from './open-shared-state.js';

const redis = useRedis({ shared: true });

const askOf = (id: string, peerLimit = 10, keyLimit = 10): AdmissionAsk => ({
  peer: { name: `peer-${id}`, limit: peerLimit },
  key: { id, accountId: `of-${id}`, limit: keyLimit, chat: null },
});
const ask = async (state: SharedState, of: AdmissionAsk) => (await state.admission.ask(of))!;

describe('admission in one round trip', () => {
  it('counts the address and the key, and reads the four versions', async () => {
    const state = await redis.open();
    await withinReach([state], async (attempt) => {
      const id = `k${attempt}`;
      expect(await ask(state, askOf(id))).toEqual({
        peer: { admitted: true, used: 1, resetMs: 60_000 },
        request: { admitted: true, used: 1, resetMs: 60_000 },
        keyVersion: null,
        accountVersion: null,
        statesVersion: attempt === 1 ? null : expect.any(String),
        catalogueVersion: attempt === 1 ? null : expect.any(String),
        chat: null,
      });
      const versions = await state.versions.current([`key:${id}`, `account:of-${id}`, 'states', 'catalogue']);
      const answer = await ask(state, askOf(id));
      expect(answer).toMatchObject({ peer: { used: 2 }, request: { used: 2 } });
      expect([answer.keyVersion, answer.accountVersion, answer.statesVersion, answer.catalogueVersion]).toEqual(
        versions,
      );
      await state.versions.raise([`account:of-${id}`]);
      expect((await ask(state, askOf(id))).accountVersion).not.toBe(versions![1]);
    });
  });

  it('counts nothing else of a request whose address is refused', async () => {
    const state = await redis.open();
    await withinReach([state], async (attempt) => {
      const id = `k${attempt}`;
      await ask(state, askOf(id, 1));
      const refused = await ask(state, askOf(id, 1));
      expect(refused).toMatchObject({ peer: { admitted: false, used: 1 }, request: null, keyVersion: null });
      expect(await ask(state, { ...askOf(id), peer: null })).toMatchObject({ peer: null, request: { used: 2 } });
    });
  });

  it('leaves out what it is not asked for', async () => {
    const state = await redis.open();
    await withinReach([state], async (attempt) => {
      await state.versions.raise(['states']);
      const answer = await ask(state, { peer: { name: `a${attempt}`, limit: 1 }, key: null });
      expect(answer).toMatchObject({ peer: { admitted: true }, request: null, keyVersion: null, accountVersion: null });
      expect(answer.statesVersion).toEqual(expect.any(String));
      expect(await ask(state, { peer: null, key: null })).toMatchObject({ peer: null, request: null });
    });
  });

  it('gives each of many that are asked together its own answer, refused and partial ones among them', async () => {
    const states = [await redis.open(), await redis.open()];
    await withinReach(states, async (attempt) => {
      const asks = Array.from({ length: 400 }, (_, i): AdmissionAsk => {
        const whole = askOf(`${attempt}-${i % 7}`, 20, 15);
        if (i % 5 === 1) return { ...whole, peer: null };
        return i % 5 === 2 ? { ...whole, key: null } : whole;
      });
      const answers = await Promise.all(asks.map((of, i) => ask(states[i % 2]!, of)));
      answers.forEach((answer, i) => {
        expect(answer.peer === null).toBe(asks[i]!.peer === null);
        expect(answer.request === null).toBe(asks[i]!.key === null || answer.peer?.admitted === false);
      });
      for (let k = 0; k < 7; k++) {
        const own = answers.filter((_, i) => i % 7 === k);
        const peers = own.filter(({ peer }) => peer?.admitted);
        const requests = own.filter(({ request }) => request?.admitted);
        expect(peers).toHaveLength(20);
        expect(requests).toHaveLength(15);
        expect(new Set(peers.map(({ peer }) => peer!.used)).size).toBe(20);
        expect(new Set(requests.map(({ request }) => request!.used)).size).toBe(15);
      }
    });
  });

  it('counts on the same counters as the limiters, and lets them read what it has learnt', async () => {
    const state = await redis.open();
    await withinReach([state], async (attempt) => {
      const id = `k${attempt}`;
      for (let i = 0; i < 3; i++) await ask(state, askOf(id));
      const reading = state.counters('requests').peek(id);
      expect(reading.used).toBe(3);
      expect(reading.resetMs).toBeGreaterThan(55_000);
      expect(state.counters('ip').peek(`peer-${id}`).used).toBe(3);
      expect(await state.counters('requests').take(id, 1, 10)).toMatchObject({ admitted: true, used: 4 });
      expect(await state.counters('ip').take(`peer-${id}`, 1, 3)).toMatchObject({ admitted: false, used: 3 });
    });
  });

  it('says how many requests had to do without', async () => {
    const state = await redis.open();
    expect(state.up).toBe(true);
    await state.close();
    const before = state.fallbacks;
    expect(await state.admission.ask(askOf('k'))).toBe(null);
    expect([state.up, state.fallbacks - before]).toEqual([false, 1]);
  });

  it('takes the tokens and the hold of a chat too, where the request is admitted under the versions it was read with', async () => {
    const state = await redis.open();
    await withinReach([state], async (attempt) => {
      const id = `chat${attempt}`;
      const subject = { name: id, accountId: `of-${id}`, kind: 'balance' as const, id: 'a', fromMs: 0 };
      const [keyVersion, accountVersion] = (await state.versions.current([`key:${id}`, `account:of-${id}`]))!;
      await state.spend.setSpent(subject, 0n, 'first');
      const spend = { limits: [{ subject, limitPico: 15n }], estimatePico: 10n, atMs: 0 };
      const versions = { keyVersion: keyVersion!, accountVersion: accountVersion! };
      const of = (more: object = {}, keyLimit = 100) => ({
        ...askOf(id, 100, keyLimit),
        key: {
          ...{ id, accountId: `of-${id}`, limit: keyLimit },
          chat: { ...versions, tokens: 30, tokenLimit: 100, spend, ...more },
        },
      });
      const asks = [of(), of({ keyVersion: 'old' }), of(), of(), of({ spend: null }), of({}, 1), of({ spend: null })];
      const answers = await Promise.all(asks.map((each) => ask(state, each)));
      const seen = answers.map(
        ({ chat }) => chat && [chat.tokens.admitted, chat.tokens.used, chat.spend?.kind ?? null],
      );
      expect(seen).toEqual([
        [true, 30, 'held'],
        null,
        [true, 60, 'held'],
        [true, 90, 'refused'],
        [false, 90, null],
        null,
        [false, 90, null],
      ]);
      expect(await state.spend.inFlight(subject)).toEqual({ heldPico: 20n, requests: 2 });
      expect(state.counters('tokens').peek(id).used).toBe(90);
    });
  });
});
