/** Describes the usage of an answer, with what it cost. */
import { array, boolean, integer, number, object, open, ref, text } from './schema.js';

export const usage = object(
  {
    prompt_tokens: integer('Tokens of the request.'),
    completion_tokens: integer('Tokens of the answer.'),
    total_tokens: integer('Both.'),
    cost: number('What the answer cost, in US dollars; the exact decimal.'),
    cost_details: ref('CostDetails'),
    is_byok: boolean('True where an own credential has served: `cost` is then the operator’s fee.'),
    notional_cost: number('The list price of what the own credential has paid for.'),
    notional_cost_details: ref('CostDetails'),
    prompt_tokens_details: object(
      {
        cached_tokens: integer('Of the prompt, what came from a cache.'),
        cache_write_tokens: integer('Of the prompt, what was written to a cache.'),
      },
      { optional: 'all', type: ['object', 'null'], ...open },
    ),
    completion_tokens_details: object(
      { reasoning_tokens: integer('Of the answer, what was reasoning.') },
      { optional: 'all', type: ['object', 'null'], ...open },
    ),
    extra_iterations: array(
      object({ type: text('What it was, e.g. `compaction`.') }, open),
      'What the provider spent beside the answer and bills: each with the token figures of a `usage`. `cost` includes it.',
    ),
  },
  {
    optional: [
      ...['prompt_tokens_details', 'completion_tokens_details', 'extra_iterations'],
      ...['is_byok', 'notional_cost', 'notional_cost_details'],
    ],
    ...open,
  },
);
