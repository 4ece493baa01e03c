/**
 * `POST /webhooks/stripe` receives payment events. The signature over the raw body replaces a key or session. A 2xx ends Stripe's
 * retries, so it is sent only when the event is in the store; an unreachable store is a 500.
 */
import type { FastifyInstance } from 'fastify';
import type { HttpDeps } from '../deps.js';
import { body, json, operation, resource } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { rawBody } from '../server/body.js';

const stripeWebhookPath = '/webhooks/stripe';

export function registerStripeWebhook(app: FastifyInstance, { payments, logger }: HttpDeps): void {
  if (!payments) return;
  app.post(stripeWebhookPath, async (request, reply) => {
    reply.header('cache-control', 'no-store');
    const signature = [request.headers['stripe-signature'] ?? []].flat().join(',');
    try {
      return { received: true, outcome: await payments.receive(rawBody(request), signature) };
    } catch (error) {
      logger.warn({ request_id: request.id, error: String(error) }, 'a Stripe webhook call was refused');
      throw error;
    }
  });
}

const event = {
  id: 'evt_1QZ3kX2eZvKYlo2C0aBcDeFg',
  object: 'event',
  type: 'checkout.session.completed',
  created: 1_791_979_200,
  data: { object: { id: 'cs_live_a1', object: 'checkout.session', payment_status: 'paid', metadata: {} } },
};
const received = s.object({
  received: { const: true },
  outcome: s.oneOfValues(
    ['recorded', 'repeated', 'ignored', 'refused'],
    'What happened to it. A refused event is in the log and needs attention.',
  ),
});

const about = 'Only for the payment processor, which signs its calls.';
export const webhooks = resource('Webhooks', about, 'open', {
  'POST /webhooks/stripe': operation('receiveStripeEvent', 'Report a payment', {
    description:
      'Called by Stripe with a `stripe-signature` header over the body, at most five minutes old. An event counts once, however often it is sent. There is no such path where `payments.processor` is `none`.',
    parameters: [
      {
        name: 'stripe-signature',
        in: 'header',
        required: true,
        description: 'The time, and the signature of time and body with `payments.webhook_secret`.',
        schema: { type: 'string' },
      },
    ],
    body: body({ type: 'object', ...s.open }, { paid: ['A checkout was paid', event] }),
    answers: json('The event need not be sent again.', received),
  }),
});
