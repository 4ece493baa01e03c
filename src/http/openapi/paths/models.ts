/** Describes `/v1/models` and the dry run `POST /v1/routes/explain`. */

import { certificationNames, quantizationNames, zeroRetentionKinds } from '../../../base/data-policy.js';
import { modelKinds } from '../../../catalogue/route.js';
import { credentialName } from '../credential-name.js';
import { json, type Resource } from '../operations.js';
import {
  array,
  boolean,
  integer,
  listOf,
  number,
  numberOrNull,
  object,
  oneOfValues,
  orNull,
  query,
  ref,
  text,
  textOrNull,
} from '../schema.js';
import { chatExamples } from './chat.js';

const modelTag = { name: 'Models', description: 'The ids that can be served now.' };

const perToken = (what: string) =>
  textOrNull(`${what}, US dollars a token, an exact decimal; null where routes differ or nothing is published.`, {
    pattern: '^\\d+(\\.\\d{1,12})?$',
  });

const perUse = (what: string) =>
  textOrNull(`${what}, US dollars, an exact decimal; null where routes differ or nothing is published.`, {
    pattern: '^\\d+(\\.\\d{1,12})?$',
  });

const dayFormat = { format: 'date' };

const dataPolicy = object(
  {
    trains: boolean('Paid API requests are used for training where no setting is changed.'),
    retention_days: integer('How long prompts or answers are kept by default; 0 = nothing is kept.', { minimum: 0 }),
    zdr: oneOfValues(zeroRetentionKinds, 'Whether zero retention can be had, and how.'),
    in_region: boolean(
      'The provider promises that processing stays in the region of the route. Never there on a `global` route, which has none.',
    ),
    eu_owned: boolean('Headquarters and ultimate parent are in the EU.'),
    certifications: array({ type: 'string', enum: [...certificationNames] }, 'Those that are known.'),
    source: text('Where the facts are from.'),
    as_of: text('When they were read.'),
    basis: oneOfValues(
      ['published', 'agreement', 'own_agreement'],
      '`agreement` where the operator has agreed on one of the fields, `own_agreement` where the customer has.',
    ),
  },
  {
    optional: ['trains', 'retention_days', 'zdr', 'in_region', 'eu_owned', 'certifications', 'source', 'as_of'],
    type: ['object', 'null'],
    description:
      'What becomes of the data, as in force. An absent field is not known. Null for `auto/` ids and aliases.',
  },
);

const model = object(
  {
    id: text('The id to send as `model`.'),
    object: { const: 'model' },
    name_of: text('Only on a name of the operator: the id that it stands for.'),
    created: integer('When the catalogue was loaded, Unix time.'),
    owned_by: text('The creator.'),
    name: text('The model’s name, for people.'),
    kind: oneOfValues(modelKinds, 'What it does, which decides at which endpoint it is served.'),
    architecture: object({
      modality: text(
        'What goes in and what comes out: `text->text`, `text+image->text`, `text->embeddings`, `text->rerank`.',
      ),
      input_modalities: array({ type: 'string' }, 'What it reads.'),
      output_modalities: array({ type: 'string' }, 'What it writes.'),
    }),
    dimensions: integer('The length of an embedding model’s vectors; absent where none is published.', { minimum: 1 }),
    context_length: orNull(integer('Tokens.')),
    max_output_tokens: orNull(integer('Tokens.')),
    pricing: object({
      prompt: perToken('Input'),
      completion: perToken('Output'),
      input_cache_read: perToken('Cached input'),
      input_cache_write: perToken('Input that is written to a cache'),
      input_cache_write_1h: perToken('Input that is written to a cache for an hour'),
      request: perUse('A request, beside its tokens'),
      image: perToken('Input of images'),
      audio: perToken('Input of audio'),
      internal_reasoning: perToken('Reasoning'),
      web_search: perUse('A search of the web that the provider makes'),
    }),
    as_of: textOrNull('The date of the prices in the catalogue; null where it has none, or where routes differ.'),
    stale: boolean('That date is more than 90 days ago.'),
    pricing_until_changed: boolean(
      'An offer without a known end: the price holds until the catalogue says otherwise. On `auto/` ids: of at least one route.',
    ),
    provider: text('The provider, or `auto`.'),
    locode: textOrNull('The region, or `global`; null for `auto`.'),
    country: textOrNull('ISO 3166-1.'),
    carbon: numberOrNull('gCO2e/kWh.'),
    cloud_act: orNull(boolean('Whether the provider falls under the US CLOUD Act.')),
    data_policy: dataPolicy,
    quantization: oneOfValues([...quantizationNames, null], 'The precision of the weights; null where not known.'),
    supported_parameters: array({ type: 'string' }, 'Parameters of a request that are applied.'),
    released: textOrNull('The day of its release; null where it is not known, or where routes differ.', dayFormat),
    deprecated: textOrNull(
      'Since when it is deprecated; null where it is not known, or where routes differ.',
      dayFormat,
    ),
    retires: object(
      {
        date: text('From this day on, 00:00 UTC, it is not served.', dayFormat),
        replaced_by: textOrNull('The model to change to, `creator/model`; null where none is known.'),
      },
      {
        type: ['object', 'null'],
        description: 'Its retirement; null where none is announced. An `auto/` id retires with the last of its routes.',
      },
    ),
  },
  { optional: ['dimensions', 'name_of'] },
);

export const models: Resource = {
  tag: modelTag,
  schemas: { Model: model },
  operations: {
    'GET /v1/models': {
      id: 'listModels',
      summary: 'List models',
      description:
        'Every servable route as a four-segment id, one `auto/` id for each model, and the account’s aliases. Servable means: configured, priced, not held, not disabled, permitted in your territory.',
      parameters: [query('kind', 'Only models of this kind.', { type: 'string', enum: [...modelKinds] })],
      answers: { '200': json('The list.', listOf(ref('Model'))) },
    },
    'GET /v1/models/{id}': {
      id: 'getModel',
      summary: 'Get a model',
      answers: { '200': json('The model.', ref('Model')) },
    },
  },
};

const explainTag = {
  name: 'Explain',
  description: 'A dry run of a request, without a call and without a cost.',
};

const verdicts = [
  'eligible',
  'gated',
  'breaker_open',
  'quota_held',
  'unconfigured',
  'unpriced',
  'territory',
  'cannot_apply',
  'credential_failing',
  'credential_held',
];

const score = object(
  {
    total: number('The weighted sum; the highest is tried first.'),
    price: numberOrNull('0 to 1; null where no price is published.'),
    latency: number('0 to 1.'),
    failures: number('0 to 1.'),
    carbon: numberOrNull('0 to 1; null where no figure is published.'),
  },
  { type: ['object', 'null'], description: 'Null where a gate removed the route.', additionalProperties: true },
);

const candidate = object(
  {
    id: text('The route.'),
    entry: text('The model id, of the request or its chain, that it is a candidate of.'),
    rank: orNull(integer('Its place in the walk, from 1; null where a gate removed it.')),
    score,
    verdict: oneOfValues(verdicts, '`eligible`, or why it would not be tried.'),
    gate: textOrNull('The gate of the routing policy that removed it.'),
    param: textOrNull('The parameter that it cannot apply.'),
    credential: credentialName(
      'What it would be called with; absent where the account has no credential for the model.',
    ),
    sticky: boolean('True where it served the last turn of the conversation, and is tried first.'),
  },
  { optional: ['entry', 'sticky', 'credential'] },
);

const counterfactual = object(
  {
    gate: text('The gate to relax.'),
    setting: { description: 'What its setting would have to be.' },
    also: array({ type: 'object', additionalProperties: true }, 'Changes that are needed at the same time.'),
    admits: integer('How many routes it would leave.'),
    message: text('The same as a sentence.'),
  },
  { additionalProperties: true },
);

export const explain: Resource = {
  tag: explainTag,
  schemas: {
    RouteExplanation: object(
      {
        object: { const: 'route_explanation' },
        requested_model: text('The id as it was sent.'),
        name: textOrNull('The operator’s name that it is; null where it is none.'),
        defaults: array({ type: 'string' }, 'Fields that the name adds to the request.'),
        resolved: array({ type: 'string' }, 'The ids that would be walked, in order: its target, then the chain’s.'),
        candidates: array(candidate, 'Every candidate in the order of the walk, then the routes that a gate removed.'),
        would_serve: textOrNull('The route that would be tried first.'),
        error: {
          type: ['object', 'null'],
          description: 'The error that chat would answer with.',
          additionalProperties: true,
        },
        counterfactuals: array(counterfactual, 'What change of the policy would admit a route, where it leaves none.'),
      },
      { optional: ['counterfactuals'] },
    ),
  },
  operations: {
    'POST /v1/routes/explain': {
      id: 'explainRoutes',
      summary: 'Explain a request',
      description:
        'Takes the body of a chat request, or of another endpoint that `door` names (`chat`, `messages`, `responses`, `embeddings`, `rerank`). The answer is a 200 whenever the body is a valid request, also where `model` is no id.',
      body: { schema: ref('ExplainRequest'), examples: chatExamples },
      answers: { '200': json('What would happen.', ref('RouteExplanation')) },
    },
  },
};
