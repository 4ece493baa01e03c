/** Describes what a served answer has beside the text: its usage, its cost and its receipt. */
import { component, record } from './resource.js';
import * as s from './schema.js';
import { credentialName } from './shared.js';

const part = (what: string) => s.text(`${what}, US dollars, an exact decimal.`, { pattern: '^\\d+(\\.\\d{1,12})?$' });

export const costDetails = component(
  'CostDetails',
  s.objectOf(
    'How the cost is made up: only the classes that were used, as texts. Their sum is the cost.',
    s.optionals({
      input: part('The prompt'),
      output: part('The completion'),
      cache_read: part('What came from a cache'),
      cache_write: part('What was written to a cache'),
      reasoning: part('Reasoning'),
      audio: part('Audio'),
      image: part('Images'),
      tools: part('Calls of tools that ran at the provider'),
      request: part('The request itself'),
      tier: s.text('The tier whose prices applied, where it was not the ordinary one.'),
      upstream_inference_cost: s.number('The cost once more, for clients of OpenRouter. Not in records.'),
      upstream_inference_prompt_cost: s.number(
        'Of the cost, that of the prompt, for clients of OpenRouter. Not in records.',
      ),
      upstream_inference_completions_cost: s.number(
        'Of the cost, that of the completion, for clients of OpenRouter. Not in records.',
      ),
    }),
  ),
);

const detailsOf = (figures: s.Properties) => s.orNull(s.openObject(s.optionals(figures)));

/** Fields that a provider adds are passed on, so the schemas of answers are open. */
export const usage = component(
  'Usage',
  s.openObject({
    prompt_tokens: s.integer('Tokens of the request.'),
    completion_tokens: s.integer('Tokens of the answer.'),
    total_tokens: s.integer('Both.'),
    cost: s.number('What the answer cost, in US dollars; the exact decimal.'),
    cost_details: costDetails,
    ...s.optionals({
      is_byok: s.boolean('True where an own credential has served: `cost` is then the operator’s fee.'),
      notional_cost: s.number('The list price of what the own credential has paid for.'),
      notional_cost_details: costDetails,
      prompt_tokens_details: detailsOf({
        cached_tokens: s.integer('Of the prompt, what came from a cache.'),
        cache_write_tokens: s.integer('Of the prompt, what was written to a cache.'),
      }),
      completion_tokens_details: detailsOf({ reasoning_tokens: s.integer('Of the answer, what was reasoning.') }),
      extra_iterations: s.array(
        s.openObject({ type: s.text('What it was, e.g. `compaction`.') }),
        'What the provider spent beside the answer and bills: each with the token figures of a `usage`. `cost` includes it.',
      ),
    }),
  }),
);

export const routerMetadata = record('RouterMetadata', {
  requested_model: s.text('The id as it was sent.'),
  served_model: s.text('The four-segment id of the route that served.'),
  provider: s.text('The provider that served.'),
  creator: s.text('Who made the model.'),
  model: s.text('The model’s name.'),
  locode: s.text('The region under which the route is billed and reported, or `global`.'),
  country: s.textOrNull('The region’s country, ISO 3166-1.'),
  providers_attempted: s.array({ type: 'string' }, 'One entry an attempt, in order, the serving one last.', {
    minItems: 1,
  }),
  fallback_occurred: s.boolean('The route that served was not the first attempted, or is of a fallback chain.'),
  breaker_skipped: s.texts('Routes that were left out because their breaker is open.'),
  alias: s.textOrNull('The alias that was named, without `alias/`.'),
  carbon: s.numberOrNull('gCO2e/kWh of the route; null where it is not published.'),
  cloud_act: s.booleanOrNull('Whether the provider falls under the US CLOUD Act.'),
  credential: s.objectOf('The credential that the provider was called with.', credentialName),
  request_policy: s.boolean('The request had a `provider` object with at least one field.'),
  sticky: s.boolean('The route that served the conversation before was tried first, and served again.'),
  name: s.textOrNull('The operator’s name that was asked for; null where it was none.'),
  defaults: s.texts('Fields that the name has added to the request.'),
  retires: s.optional(
    s.objectOf('Only where the route that served retires within 60 days.', {
      date: s.text('From this day on, 00:00 UTC, the route is not served.', { format: 'date' }),
      replaced_by: s.textOrNull('The model to change to, `creator/model`; null where none is known.'),
    }),
  ),
  receipt: s.optional(
    s.text(
      'The receipt in the log: the generation’s id, or the hash of its leaf where `proof.hash_bodies` is off. Absent without a log.',
    ),
  ),
  generation_id: s.optional(
    s.text('The generation’s id, at doors whose answers have an id of the provider.', s.idPattern('gen')),
  ),
  omitted: s.optional(s.texts('Fields that the route does not support and that were left out.')),
  stream_end: s.optional(
    s.oneOfValues(['complete', 'stalled', 'cut'], 'Only on the last JSON frame of a stream: how it ended.'),
  ),
});
