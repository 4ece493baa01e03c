/** Stripe on loopback: the one call of its API that is used, its payment page, and events signed as Stripe signs them. */
import { createHmac, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { registerSecret } from './secrets.js';

export const secretKey = 'sk_test_lodestone0123456789abcdef';
export const webhookSecret = 'whsec_lodestone0123456789abcdef';

interface CheckoutCall {
  authorization: string;
  idempotencyKey: string;
  /** The form's fields, as Stripe names them: `line_items[0][price_data][unit_amount]`. */
  fields: Record<string, string>;
}

export interface ScriptedStripe {
  url: string;
  calls: CheckoutCall[];
  /** What the next calls are answered with instead. */
  failWith: { status: number; error: Record<string, unknown> } | 'hang_up' | null;
  /** The `payments` part of a configuration that uses this one. */
  config: Record<string, string>;
  stop(): Promise<void>;
}

export async function startStripe(): Promise<ScriptedStripe> {
  registerSecret('the secret key of Stripe', secretKey);
  registerSecret('the webhook secret of Stripe', webhookSecret);
  const failures = new Map<string, { status: number; error: Record<string, unknown> }>();
  const sessions = new Map<string, { id: string; success: string }>();
  const server = createServer((req, res) => void answer(req, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stripe: ScriptedStripe = {
    ...{ url, calls: [], failWith: null },
    config: { processor: 'stripe', secret_key: secretKey, webhook_secret: webhookSecret, api_base: url },
    stop: () => new Promise((resolve) => void server.close(() => resolve()).closeAllConnections()),
  };

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (req.method === 'GET') return payPage(req, res);
    const fields = Object.fromEntries(new URLSearchParams(await textOf(req)));
    const idempotencyKey = String(req.headers['idempotency-key']);
    stripe.calls.push({ authorization: String(req.headers.authorization), idempotencyKey, fields });
    if (stripe.failWith === 'hang_up') return void res.destroy();
    // As Stripe does: a key that was refused is refused again with the same words.
    const failure = failures.get(idempotencyKey) ?? stripe.failWith;
    if (failure) {
      failures.set(idempotencyKey, failure);
      return json(res, failure.status, { error: failure.error });
    }
    const session = sessions.get(idempotencyKey) ?? {
      id: `cs_test_${randomBytes(6).toString('hex')}`,
      success: fields.success_url ?? '',
    };
    sessions.set(idempotencyKey, session);
    json(res, 200, { id: session.id, object: 'checkout.session', url: `${url}/pay/${session.id}` });
  }

  function payPage(req: IncomingMessage, res: ServerResponse): void {
    const id = req.url?.split('/').at(-1) ?? '';
    const found = [...sessions.values()].find((session) => session.id === id);
    const back = found?.success.replace('{CHECKOUT_SESSION_ID}', id) ?? '';
    res.setHeader('content-type', 'text/html').end(`<title>Pay</title><h1>Pay</h1><a href="${back}">Pay now</a>`);
  }

  return stripe;
}

async function textOf(req: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of req) text += piece;
  return text;
}

function json(res: ServerResponse, status: number, body: unknown): void {
  res.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_scripted' }).end(JSON.stringify(body));
}

export interface StripeEvent {
  id: string;
  object: 'event';
  type: string;
  created: number;
  data: { object: Record<string, unknown> };
}

const freshId = (prefix: string) => `${prefix}_${randomBytes(9).toString('hex')}`;
const nowSeconds = () => Math.floor(Date.now() / 1000);

export function stripeEvent(
  type: string,
  object: Record<string, unknown>,
  over: Partial<StripeEvent> = {},
): StripeEvent {
  return { id: freshId('evt'), object: 'event', type, created: nowSeconds(), data: { object }, ...over };
}

/** The session of a checkout that was opened by this service and is paid. */
export function paidSession(accountId: string, over: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: freshId('cs_test'),
    object: 'checkout.session',
    mode: 'payment',
    payment_status: 'paid',
    amount_total: 2500,
    currency: 'usd',
    client_reference_id: accountId,
    payment_intent: freshId('pi'),
    metadata: { lodestone_account: accountId },
    customer_details: { address: { country: 'DE' } },
    ...over,
  };
}

export const completed = (accountId: string, over: Record<string, unknown> = {}) =>
  stripeEvent('checkout.session.completed', paidSession(accountId, over));

export function refundedCharge(paymentId: unknown, refunded: number, over: Record<string, unknown> = {}) {
  return {
    ...{ id: freshId('ch'), object: 'charge', amount: 2500, amount_refunded: refunded, currency: 'usd' },
    ...{ payment_intent: paymentId, ...over },
  };
}

export interface Signing {
  secret?: string;
  /** Seconds from now at which it says that it was signed. */
  at?: number;
  scheme?: string;
}

export function signature(body: string, { secret = webhookSecret, at = 0, scheme = 'v1' }: Signing = {}): string {
  const time = nowSeconds() + at;
  return `t=${time},${scheme}=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`;
}
