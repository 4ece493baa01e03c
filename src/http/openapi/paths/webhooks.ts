/** The webhook that the payment processor calls; there only where `payments.processor` is set. */
import { json, openOperation } from '../operations.js';
import { object } from '../schema.js';
import type { Resource } from '../types.js';

const tag = { name: 'Webhooks', description: 'For the payment processor alone; its signature is the proof.' };

const example = {
  id: 'evt_1QZ3kX2eZvKYlo2C0aBcDeFg',
  object: 'event',
  type: 'checkout.session.completed',
  created: 1_791_979_200,
  data: { object: { id: 'cs_live_a1', object: 'checkout.session', payment_status: 'paid', metadata: {} } },
};

export const webhooks: Resource = {
  tag,
  paths: {
    '/webhooks/stripe': {
      post: openOperation(
        {
          id: 'receiveStripeEvent',
          tag: tag.name,
          summary: 'Report a payment',
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
          body: {
            schema: { type: 'object', additionalProperties: true },
            examples: { paid: { summary: 'A checkout was paid', value: example } },
          },
          answers: {
            '200': json(
              'The report need not be sent again.',
              object({
                received: { const: true },
                outcome: {
                  type: 'string',
                  enum: ['recorded', 'repeated', 'ignored', 'refused'],
                  description: 'What became of it. What was refused is in the log, for a person to see to.',
                },
              }),
            ),
          },
          errors: ['webhook_signature_invalid', 'webhook_time_invalid'],
        },
        true,
      ),
    },
  },
};
