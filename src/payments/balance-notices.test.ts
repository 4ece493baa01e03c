import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../tests/support/manual-clock.js';
import type { BalanceNotice, NoticeStore, RetiringRoute } from '../domain/notice.js';
import { StoreUnavailable } from '../storage/store.js';
import { BalanceNotices, retryDelaysMs, signedHeaders } from './balance-notices.js';

const notice = {
  ...{ id: 'ntc-1', accountId: 'acct-1', email: 'owner@example.test', level: 'low' as const },
  ...{ balancePico: 500_000_000_000n, thresholdPico: 1_000_000_000_000n, createdAt: 0 },
  ...{ isSent: false, isMailed: false, mailTo: ['owner@example.test', 'billing@example.test'] },
} as const;

/** One notice that is due, and the sender's answers to it. */
function scene(answers: (number | Error)[], mails: ((to: string) => void) | null = null) {
  const clock = new ManualClock();
  const log: string[] = [];
  const state = { looks: 0, attempts: 0, dueAt: clock.now() as number | null, delivered: false, away: false };
  const done = { isSent: false, isMailed: false };
  const retirements: [string[], number][] = [];
  const retiring: RetiringRoute[] = [];
  const store: NoticeStore = {
    threshold: async () => null,
    setThreshold: async () => {},
    lookForCrossings: async () => {
      state.looks++;
      if (state.away) throw new StoreUnavailable('away');
      return 0;
    },
    namesOf: async () => [],
    lookForRetirements: async ({ routes, sinceMs }) => {
      retirements.push([routes.map(({ route }) => route), clock.now() - sinceMs]);
      return 0;
    },
    take: async ({ nowMs, untilMs }): Promise<BalanceNotice[]> => {
      if (state.dueAt === null || state.dueAt > nowMs) return [];
      state.dueAt = untilMs;
      return [{ ...notice, ...done, attempts: ++state.attempts }];
    },
    delivered: async () => {
      Object.assign(state, { delivered: true, dueAt: null });
    },
    partlyDelivered: async (_id, part) => {
      done[part === 'sent' ? 'isSent' : 'isMailed'] = true;
    },
    tryAgainAt: async (_id, atMs) => {
      state.dueAt = atMs;
    },
  };
  const sender = {
    send: async () => {
      const answer = answers.shift() ?? 204;
      if (typeof answer === 'number') return answer;
      throw answer;
    },
    sendBody: async () => 204,
    close: async () => void log.push('closed'),
  };
  const write = (level: string) => (_fields: object, message: string) => void log.push(`${level}: ${message}`);
  const logger = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  const waiting: (() => void)[] = [];
  const schedule = (_ms: number, callback: () => void) => {
    waiting.push(callback);
    return () => void waiting.splice(waiting.indexOf(callback), 1);
  };
  const notices = new BalanceNotices({
    ...{ store, sender, clock, logger, schedule, intervalMs: 1_000, defaultPico: 1_000_000_000_000n },
    ...{ retiring: () => retiring, periods: () => [] },
    mail: mails && (async ({ to, subject }) => void mails(`${to}: ${subject}`)),
  });
  return { notices, clock, state, log, waiting, retirements, retiring };
}

describe('notices about retirements', () => {
  it('are looked for once an hour, among accounts that used a retiring route in the last 30 days, and not without one', async () => {
    const { notices, clock, retirements, retiring } = scene([]);
    await notices.look();
    expect(retirements).toEqual([]);
    retiring.push({ route: 'acme/meta/llama/defra', model: 'meta/llama', date: '2026-10-16', replacedBy: null });
    clock.advance(3_599_999);
    await notices.look();
    expect(retirements).toEqual([]);
    clock.advance(1);
    await notices.look();
    await notices.look();
    expect(retirements).toEqual([[['acme/meta/llama/defra'], 30 * 86_400_000]]);
  });
});

describe('notices about balances', () => {
  it('are delivered once where they are answered with a 2xx', async () => {
    const { notices, state, log } = scene([200]);
    await notices.look();
    await notices.look();
    expect(state).toMatchObject({ attempts: 1, delivered: true });
    expect(log).toEqual(['info: a notice was delivered']);
  });

  it.each([500, 404, 301, new Error('connect ECONNREFUSED')])(
    'are tried again after %s, later each time',
    async (answer) => {
      const { notices, clock, state } = scene([answer, answer, 200]);
      await notices.look();
      expect(state.dueAt).toBe(clock.now() + retryDelaysMs[0]!);
      clock.advance(retryDelaysMs[0]! - 1);
      await notices.look();
      expect(state.attempts).toBe(1);
      clock.advance(1);
      await notices.look();
      expect(state.dueAt).toBe(clock.now() + retryDelaysMs[1]!);
      clock.advance(retryDelaysMs[1]!);
      await notices.look();
      expect(state).toMatchObject({ attempts: 3, delivered: true });
    },
  );

  it('are given up after the last delay, which is logged for a person', async () => {
    const { notices, clock, state, log } = scene(Array.from({ length: 20 }, () => 500));
    for (let look = 0; look < 20; look++) {
      await notices.look();
      clock.advance(24 * 3_600_000);
    }
    expect(state).toMatchObject({ attempts: retryDelaysMs.length + 1, dueAt: null, delivered: false });
    expect(log.filter((line) => line.startsWith('error'))).toHaveLength(1);
  });

  it('wait for a store that is away, and the looks go on until they are stopped', async () => {
    const { notices, state, log, waiting } = scene([200]);
    state.away = true;
    notices.start();
    waiting.shift()!();
    await expect.poll(() => waiting.length).toBe(1);
    expect(log).toEqual(['warn: balances and retirements could not be checked; trying again']);
    state.away = false;
    waiting.shift()!();
    await expect.poll(() => state.delivered).toBe(true);
    await notices.stop();
    expect({ waiting, looks: state.looks }).toEqual({ waiting: [], looks: 2 });
    expect(log.at(-1)).toBe('closed');
  });
});

describe('the signature of a notice', () => {
  const body = '{"type":"balance.low"}';
  const verify = (secret: string, headers: Record<string, string>, payload = body) =>
    new OpenAI({ apiKey: 'none' }).webhooks.verifySignature(payload, headers, secret);

  it.each([`whsec_${Buffer.from('a key of some length').toString('base64')}`, 'a-plain-secret'])(
    'is what a library for Standard Webhooks verifies: %s',
    async (secret) => {
      const headers = signedHeaders(secret, 'ntc-1', Date.now(), body);
      await expect(verify(secret, headers)).resolves.toBeUndefined();
      await expect(verify(secret, headers, `${body} `)).rejects.toThrow();
      await expect(verify(`${secret}x`, signedHeaders('another', 'ntc-1', Date.now(), body))).rejects.toThrow();
      await expect(verify(secret, { ...headers, 'webhook-id': 'ntc-2' })).rejects.toThrow();
      await expect(verify(secret, signedHeaders(secret, 'ntc-1', Date.now() - 600_000, body))).rejects.toThrow();
    },
  );
});

describe('a notice about money', () => {
  const subject = 'The balance is low: 0.5 USD';

  it('is mailed to everybody once, and sent again alone while the webhook fails', async () => {
    const mails: string[] = [];
    const { notices, clock, state } = scene([500, 204], (mail) => mails.push(mail));
    await notices.look();
    expect([mails, state.delivered]).toEqual([
      [`owner@example.test: ${subject}`, `billing@example.test: ${subject}`],
      false,
    ]);
    clock.advance(retryDelaysMs[0]!);
    await notices.look();
    expect([mails.length, state.delivered]).toEqual([2, true]);
  });

  it('is mailed again while the mail server fails, and not sent again', async () => {
    let refusals = 2;
    const mails: string[] = [];
    const answers = [204, 500];
    const { notices, clock, state } = scene(answers, (mail) => {
      if (refusals-- > 0) throw new Error('greylisted');
      mails.push(mail);
    });
    await notices.look();
    expect(state.delivered).toBe(false);
    clock.advance(retryDelaysMs[0]!);
    await notices.look();
    expect([mails.length, state.delivered, answers]).toEqual([2, true, [500]]);
  });
});
