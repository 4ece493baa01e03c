/**
 * `POST /webhooks/stripe` receives payment events. The signature over the raw body replaces a key or session. A 2xx ends Stripe's
 * retries, so it is sent only when the event is in the store; an unreachable store is a 500.
 */
import type { FastifyInstance } from 'fastify';
import type { HttpDeps } from '../deps.js';
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
