/** `GET /v1/credits` and `GET /v1/key`. */
import { json, keyOperation } from '../operations.js';
import { integer, number, object, ref, text, textOrNull, usd } from '../schema.js';
import type { Resource } from '../types.js';

const tag = { name: 'Account', description: 'What the key’s account has, and what the key may do.' };

export const account: Resource = {
  tag,
  schemas: {
    Credits: object({
      data: object({
        balance_usd: usd('The balance.'),
        total_credits: number('All that was credited.'),
        total_usage: number('All that was used.'),
        currency: { const: 'USD' },
      }),
    }),
    KeyInfo: object({
      data: object({
        name: text('The key’s name.'),
        label: text('Its beginning and its last four characters.'),
        expires_at: textOrNull('When it expires; null is never.', { format: 'date-time' }),
        usage: number('What was spent with it, in US dollars.'),
        rate_limit: object({
          requests_per_minute: integer('Requests a minute.'),
          tokens_per_minute: integer('Tokens a minute.'),
        }),
      }),
    }),
  },
  paths: {
    '/v1/credits': {
      get: keyOperation({
        id: 'getCredits',
        tag: tag.name,
        summary: 'Get the balance',
        answers: { '200': json('The balance and its sums.', ref('Credits')) },
      }),
    },
    '/v1/key': {
      get: keyOperation({
        id: 'getKey',
        tag: tag.name,
        summary: 'Get the key in use',
        answers: { '200': json('The key.', ref('KeyInfo')) },
      }),
    },
  },
};
