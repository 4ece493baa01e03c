/** A gateway that sells credit through a scripted Stripe, with helpers for the payment tests. */
import { request } from 'undici';
import { afterAll, beforeAll } from 'vitest';
import type { Reply } from '../../support/client.js';
import { startGateway, type TestGateway, type TestGatewayOptions } from '../../support/gateway.js';
import { type ScriptedStripe, type Signing, signature, startStripe } from '../../support/scripted-stripe.js';
import { searchError } from '../../support/secrets.js';

export interface PaymentBench {
  gateway: TestGateway;
  stripe: ScriptedStripe;
  /** Log lines that a person is meant to see. */
  errors: { message: string; fields: Record<string, unknown> }[];
}

export function usePayments(options: TestGatewayOptions = {}): PaymentBench {
  const bench = { errors: [] } as unknown as PaymentBench;
  const error = (fields: object, message: string) => bench.errors.push({ message, fields: { ...fields } });
  const logger = { debug() {}, info() {}, warn() {}, error };
  beforeAll(async () => {
    bench.stripe = await startStripe();
    const config = { ...options.config, payments: bench.stripe.config };
    bench.gateway = await startGateway({ logger, ...options, config });
  });
  afterAll(async () => {
    await bench.gateway?.stop();
    await bench.stripe?.stop();
  });
  return bench;
}

export interface Delivery extends Signing {
  /** Replaces the header; null sends none. */
  header?: string | null;
}

/** As Stripe delivers it: the very bytes that were signed. */
export async function deliver(
  { url }: { url: string },
  event: unknown,
  { header, ...signing }: Delivery = {},
): Promise<Reply> {
  const body = typeof event === 'string' ? event : JSON.stringify(event);
  const signed = header === undefined ? signature(body, signing) : header;
  const answer = await request(`${url}/webhooks/stripe`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json; charset=utf-8',
      ...(signed !== null && { 'stripe-signature': signed }),
    },
    body,
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 400) searchError('the answer of the webhook', text);
  return { status: answer.statusCode, headers: answer.headers, text, json: jsonOf(text) };
}

function jsonOf(text: string) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

export interface Entry {
  kind: string;
  amount_usd: string;
  balance_usd: string;
  note: string | null;
}

/** Oldest first. */
export async function entriesOf(gateway: TestGateway, accountId: string): Promise<Entry[]> {
  const { json } = await gateway.admin('GET', `/accounts/${accountId}/ledger`);
  return (json.data as Entry[]).toReversed();
}

export const amountsOf = async (gateway: TestGateway, accountId: string): Promise<string[]> =>
  (await entriesOf(gateway, accountId)).map(({ amount_usd }) => amount_usd);

export async function balanceOf(gateway: TestGateway, accountId: string): Promise<string> {
  return (await gateway.admin('GET', `/accounts/${accountId}`)).json.balance_usd;
}
