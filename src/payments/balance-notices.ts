/**
 * Reports low balances, reached budgets and the use of models that retire to the operator's webhook, once for each crossing or model in a
 * whole fleet, and retries until it answers with a 2xx. What is about money is mailed too. It is off the request path: it reads the
 * settled balances and the use at intervals.
 */
import { createHmac } from 'node:crypto';
import { Agent, request } from 'undici';
import type { Logger } from '../base/logger.js';
import type { PicoUsd } from '../base/money.js';
import type { Clock } from '../base/time.js';
import type { BudgetPeriodStart, Notice, NoticeStore, RetiringRoute } from '../domain/notice.js';
import { mailOf, type NoticeMail, noticeJson, typeOf } from './notice-text.js';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** The delays between attempts. After the last one, about two days after the crossing, the notice is given up. */
export const retryDelaysMs = [10 * second, minute, 5 * minute, 30 * minute, 2 * hour, 6 * hour, 12 * hour, 24 * hour];
/** If a process dies while it sends, other processes wait this long before they take its notices. */
const takenMs = minute;
const takenMax = 20;
const crossingsMax = 1_000;
/** The use of retiring models is looked for this often: their notices are about weeks. */
const retirementsEveryMs = hour;
/** An account uses a model that it has used in this time. */
const usedWithinMs = 30 * 24 * hour;

/** Calls back once after `delayMs`; returns a function that cancels the call. */
type Schedule = (delayMs: number, callback: () => void) => () => void;

const timerSchedule: Schedule = (delayMs, callback) => {
  const timer = setTimeout(callback, delayMs);
  timer.unref();
  return () => clearTimeout(timer);
};

interface BalanceNoticesDeps {
  store: NoticeStore;
  /** null without a webhook. */
  sender: NoticeSender | null;
  /** Resolves when the mail was accepted; null where mail is not set up. */
  mail: ((mail: NoticeMail) => Promise<void>) | null;
  /** The periods of budgets that are under way. */
  periods: () => readonly BudgetPeriodStart[];
  defaultPico: PicoUsd;
  /** The routes that retire soon. */
  retiring: () => readonly RetiringRoute[];
  intervalMs: number;
  clock: Pick<Clock, 'now'>;
  logger: Logger;
  schedule?: Schedule;
}

export class BalanceNotices {
  private cancel: () => void = () => {};
  private running: Promise<void> = Promise.resolve();
  private stopped = false;
  private retirementsAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly deps: BalanceNoticesDeps) {}

  start(): void {
    const { intervalMs, schedule = timerSchedule } = this.deps;
    this.cancel = schedule(intervalMs, () => {
      this.running = this.look().then(() => {
        if (!this.stopped) this.start();
      });
    });
  }

  /** Completes the delivery in progress. The other notices stay in the store. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.cancel();
    await this.running;
    await this.deps.sender?.close();
  }

  /** Never rejects. Notices that could not be delivered because the store is away are found at the next run. */
  async look(): Promise<void> {
    const { store, clock, logger, defaultPico, intervalMs: everyMs } = this.deps;
    try {
      const periods = this.deps.periods();
      await store.lookForCrossings({ nowMs: clock.now(), everyMs, defaultPico, limit: crossingsMax, periods });
      await this.lookForRetirements();
      let taken: Notice[];
      do {
        const nowMs = clock.now();
        taken = await store.take({ nowMs, untilMs: nowMs + takenMs, limit: takenMax });
        await Promise.all(taken.map((notice) => this.deliver(notice)));
      } while (taken.length >= takenMax && !this.stopped);
    } catch (error) {
      logger.warn({ error: String(error) }, 'balances and retirements could not be checked; trying again');
    }
  }

  private async lookForRetirements(): Promise<void> {
    const { store, clock, retiring, sender } = this.deps;
    const nowMs = clock.now();
    if (sender === null || nowMs < this.retirementsAt) return;
    const routes = retiring();
    if (routes.length > 0) await store.lookForRetirements({ nowMs, sinceMs: nowMs - usedWithinMs, routes });
    this.retirementsAt = nowMs + retirementsEveryMs;
  }

  private async deliver(notice: Notice): Promise<void> {
    const { store, clock, logger } = this.deps;
    const about = { notice: notice.id, account: notice.accountId, type: typeOf(notice), attempt: notice.attempts };
    const [status, isMailed] = [await this.send(notice), await this.sendMails(notice)];
    const isSent = typeof status === 'number' && status >= 200 && status < 300;
    if (isSent && isMailed) {
      await store.delivered(notice.id, clock.now());
      logger.info(about, 'a notice was delivered');
      return;
    }
    if (isSent) await store.partlyDelivered(notice.id, 'sent', clock.now());
    const delayMs = retryDelaysMs[notice.attempts - 1];
    await store.tryAgainAt(notice.id, delayMs === undefined ? null : clock.now() + delayMs);
    if (delayMs === undefined) logger.error({ ...about, status }, 'a notice could not be delivered; it is given up');
    else logger.warn({ ...about, status, again_ms: delayMs }, 'a notice could not be delivered; trying again');
  }

  /** The status of the webhook's answer, or what went wrong. Nothing is to be sent without a webhook, and nothing twice. */
  private async send(notice: Notice): Promise<number | string> {
    const { sender, clock } = this.deps;
    if (sender === null || ('isSent' in notice && notice.isSent)) return 200;
    return sender.send(notice, clock.now()).catch((error) => (error as NodeJS.ErrnoException).code ?? 0);
  }

  /** False where nobody could be told. One address that is refused does not make the others get it again. */
  private async sendMails(notice: Notice): Promise<boolean> {
    const { mail, store, clock, logger } = this.deps;
    if (mail === null || !('mailTo' in notice) || notice.isMailed) return true;
    const content = mailOf(notice);
    let isTold = false;
    for (const to of notice.mailTo) {
      try {
        await mail({ to, ...content });
        isTold = true;
      } catch (error) {
        logger.warn({ notice: notice.id, error: String(error) }, 'a notice could not be mailed');
      }
    }
    if (isTold) await store.partlyDelivered(notice.id, 'mailed', clock.now());
    return isTold;
  }
}

const connectMs = 5_000;
const answerMs = 10_000;
const answerBytesMax = 16_384;

interface NoticeAddress {
  url: string;
  secret: string;
}

interface NoticeSender {
  /** Returns the status of the answer. Throws where there is none. */
  send(notice: Notice, nowMs: number): Promise<number>;
  /** The same for a body that is written already. */
  sendBody(id: string, body: string, nowMs: number): Promise<number>;
  close(): Promise<void>;
}

export function httpNoticeSender({ url, secret }: NoticeAddress): NoticeSender {
  const dispatcher = new Agent({
    connect: { timeout: connectMs },
    headersTimeout: answerMs,
    bodyTimeout: answerMs,
    connections: 4,
  });
  const sendBody = async (id: string, body: string, nowMs: number) => {
    const headers = { 'content-type': 'application/json', ...signedHeaders(secret, id, nowMs, body) };
    const answer = await request(url, { method: 'POST', headers, body, dispatcher });
    await answer.body.dump({ limit: answerBytesMax });
    return answer.statusCode;
  };
  return {
    send: (notice, nowMs) => sendBody(notice.id, JSON.stringify(noticeJson(notice)), nowMs),
    sendBody,
    close: () => dispatcher.close(),
  };
}

const base64Prefix = 'whsec_';

/**
 * Signs a notice with the headers of the Standard Webhooks convention (https://www.standardwebhooks.com), which libraries for
 * most languages verify, so that its receiver can recognise it.
 */
export function signedHeaders(secret: string, id: string, nowMs: number, body: string): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1000));
  const signature = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

/** `whsec_` and base64, as in the convention. Any other text is the key itself. */
function keyOf(secret: string): Buffer {
  return secret.startsWith(base64Prefix)
    ? Buffer.from(secret.slice(base64Prefix.length), 'base64')
    : Buffer.from(secret);
}
