/** Sends one notice to the operator's address: signed, within a bounded time, following no redirect. */
import { Agent, request } from 'undici';
import { usdText } from '../base/money.js';
import type { BalanceNotice } from '../domain/notice.js';
import { signedHeaders } from './notice-signature.js';

const connectMs = 5_000;
const answerMs = 10_000;
const answerBytesMax = 16_384;

export interface NoticeAddress {
  url: string;
  secret: string;
}

export interface NoticeSender {
  /** The status of the answer. Throws where there is none. */
  send(notice: BalanceNotice, nowMs: number): Promise<number>;
  close(): Promise<void>;
}

export function httpNoticeSender({ url, secret }: NoticeAddress): NoticeSender {
  const dispatcher = new Agent({
    connect: { timeout: connectMs },
    headersTimeout: answerMs,
    bodyTimeout: answerMs,
    connections: 4,
  });
  return {
    async send(notice, nowMs) {
      const body = JSON.stringify(noticeJson(notice));
      const headers = { 'content-type': 'application/json', ...signedHeaders(secret, notice.id, nowMs, body) };
      const answer = await request(url, { method: 'POST', headers, body, dispatcher });
      await answer.body.dump({ limit: answerBytesMax });
      return answer.statusCode;
    },
    close: () => dispatcher.close(),
  };
}

export function noticeJson({ id, accountId, email, level, balancePico, thresholdPico, createdAt }: BalanceNotice) {
  return {
    id,
    type: `balance.${level}`,
    timestamp: new Date(createdAt).toISOString(),
    data: {
      account_id: accountId,
      email,
      balance_usd: usdText(balancePico),
      threshold_usd: usdText(thresholdPico),
    },
  };
}
