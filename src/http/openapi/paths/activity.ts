/** Describes sums of usage, for an account and for operators. */
import { operatorGroups, ownGroups } from '../../api/activity.js';
import { json, type Resource } from '../operations.js';
import { instant, integer, listOf, numberOrNull, object, query, ref, text, textOrNull, time, usd } from '../schema.js';
import type { Parameter, Schema } from '../types.js';

const tag = {
  name: 'Activity',
  description: 'Requests, errors, tokens and cost over time. The rows add up to the total.',
};

const figures: Record<string, Schema> = {
  requests: integer('Requests.'),
  errors: integer('Requests that failed, or whose stream did not complete.'),
  prompt_tokens: integer('Tokens of the requests.'),
  completion_tokens: integer('Tokens of the answers.'),
  cached_tokens: integer('Of the prompts, what came from a cache.'),
  cost_usd: usd('What they cost.'),
  first_byte_ms: object(
    { p50: numberOrNull('The median.'), p95: numberOrNull('The 95th percentile.') },
    { description: 'Milliseconds to the first byte, to within a twentieth; null where there was none.' },
  ),
  tokens_per_second: object(
    { p50: numberOrNull('The median.') },
    { description: 'Tokens of the answer by the time of the request, to within a twentieth.' },
  ),
};

const row = object({
  interval: time('When the interval begins.'),
  group: textOrNull(
    'The key’s name, the id of the project or of the person who held the key, the end user, `{creator}/{model}`, provider, locode, status or account id; null where there is none.',
  ),
  ...figures,
});

/** Of sums and of the export. */
export const recordFilters: Parameter[] = [
  query('project', 'Only requests of the project with this id.'),
  query('holder', 'Only requests with keys that this person held.'),
  query('end_user', 'Only requests for this end user.'),
];

const someDay = { example: '2026-03-01' };

const parametersOf = (groups: readonly string[]): Parameter[] => [
  query('from', 'RFC 3339 or a date, UTC; included. Without it, 7 days before `to`.', instant, someDay),
  query('to', 'RFC 3339 or a date, UTC; not included. Without it, the end of today.', instant, someDay),
  query('interval', 'What a row covers.', { type: 'string', enum: ['hour', 'day'] }),
  query('group_by', 'Without it, there is one row an interval.', { type: 'string', enum: [...groups] }),
  ...recordFilters,
];

const answers = {
  '200': json(
    'The sums.',
    listOf(ref('Activity'), { total: object(figures, { description: 'Of the whole period.' }) }),
  ),
};

export const activity: Resource = {
  tag,
  schemas: { Activity: row },
  operations: {
    'GET /v1/activity': {
      id: 'getActivity',
      summary: 'Sum up usage',
      parameters: parametersOf(ownGroups),
      answers,
      description: 'Requests of the account by hour or day, in groups. Sums of the rows equal the total.',
    },
  },
};

/** Part of the operators' records. */
export const adminActivity: Pick<Resource, 'schemas' | 'operations'> = {
  schemas: {
    StorageFault: object({
      what: text('What was compared.'),
      where: text('The account, and the hour or the key.'),
      expected: text('What it must be.'),
      found: text('What it is.'),
    }),
  },
  operations: {
    'GET /admin/v1/activity': {
      id: 'getAllActivity',
      summary: 'Sum up the usage of all accounts',
      answers,
      parameters: [...parametersOf(operatorGroups), query('account', 'Only this account.')],
    },
  },
};
