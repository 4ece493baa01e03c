/** Describes the credits and the ledger of an account. */
import { ledgerLimit, newCredit } from '../../admin/credits.js';
import { adminOperation, json } from '../operations.js';
import {
  bodySchema,
  boolean,
  listOf,
  numberParameter,
  object,
  oneOfValues,
  ref,
  text,
  textOrNull,
  time,
  usd,
} from '../schema.js';
import type { Resource } from '../types.js';
import { accountId } from './admin-accounts.js';

const tag = { name: 'Credits', description: 'For operators: the ledger, whose sum is the balance.' };

export const adminCredits: Resource = {
  tag,
  schemas: {
    LedgerEntry: object({
      id: text('Its id.'),
      created_at: time('When it was posted.'),
      kind: oneOfValues(['credit', 'usage', 'adjustment'], 'What it is.'),
      amount_usd: usd('Negative for usage.'),
      balance_usd: usd('The balance after it.'),
      generation_id: textOrNull('The generation that was paid with it.'),
      note: textOrNull('A note.'),
    }),
    NewCredit: bodySchema(newCredit),
  },
  paths: {
    '/admin/v1/accounts/{id}/credits': {
      post: adminOperation({
        id: 'postCredit',
        tag: tag.name,
        summary: 'Credit or debit an account',
        parameters: [accountId],
        body: {
          schema: ref('NewCredit'),
          examples: { credit: { summary: 'Ten dollars', value: { amount_usd: '10.00', note: 'Welcome' } } },
        },
        answers: { '201': json('The ledger entry.', ref('LedgerEntry')) },
        errors: ['field_invalid', 'resource_not_found'],
      }),
    },
    '/admin/v1/accounts/{id}/ledger': {
      get: adminOperation({
        id: 'getLedger',
        tag: tag.name,
        summary: 'Get the ledger',
        parameters: [accountId, numberParameter(ledgerLimit)],
        answers: {
          '200': json('The entries.', listOf(ref('LedgerEntry'), { has_more: boolean('There are older ones.') })),
        },
        errors: ['field_invalid', 'resource_not_found'],
      }),
    },
  },
};
