/** Parts of descriptions that several subjects of the API have. */
import { budgetPeriods, roles } from '../../domain/organisation.js';
import { sentPolicySchemas } from '../../policy/policy.js';
import { pageLimit } from '../query.js';
import { record } from './resource.js';
import * as s from './schema.js';
import type { Parameter, Schema } from './types.js';

/** Of a list. */
export const page: readonly Parameter[] = [
  s.numberParameter(pageLimit),
  s.query('after', 'Only entries after this id.', { type: 'string' }),
];

export function importedFrom(what: string): Schema {
  return s.objectOrNull(`Where ${what} was before; null for what was made here.`, {
    system: s.text('The system.'),
    id: s.text('The id there.'),
  });
}

export const role = s.oneOfValues(roles, 'What they may do.');

export const period = s.oneOfValues(budgetPeriods, 'Periods begin at 00:00 UTC, weeks on Monday.');

/** As it is shown. */
const budget = record('Budget', {
  limit_usd: s.usd('How much may be spent in a period.'),
  period,
  alert_at: s.array({ type: 'number' }, 'Parts of the limit at which a notice is sent.'),
});
export const budgetOrNull = s.anyOrNull('null is none.', budget);

/** The settings of an account, as the account itself and operators see them. */
export const accountSettings = {
  settings_by_keys: s.boolean('Inference keys may change the routing policy, the aliases and the fallback chain.'),
  record_end_users: s.boolean('The end user that a request names is kept with its record.'),
  budgets_count_own_keys: s.boolean(
    'Budgets and caps count the list price of what own credentials have paid for, and not the fee alone.',
  ),
  budget: budgetOrNull,
};

/** Whose credential a provider was called with. */
export const credentialName = {
  id: s.textOrNull('The id of the customer’s own credential; null for the operator’s.'),
  owner: s.oneOfValues(['project', 'account', 'operator'], 'Whose credential it is.'),
};

/** Of a change of the catalogue: the value before or afterwards. */
export function changedValue(description: string): Schema {
  return { type: ['string', 'number', 'boolean', 'array', 'null'], items: { type: 'string' }, description };
}

/** Of a list that has more entries than it shows. */
export const hasMore = { has_more: s.boolean('There are older ones.') };

/** A routing policy as it is sent. */
export function sentPolicy(description: string, more: Schema = {}): Schema {
  return s.object(
    s.optionals({
      object: { description: 'Ignored, so that the answer of a GET can be sent back.' },
      ...sentPolicySchemas,
    }),
    { additionalProperties: false, description, ...more },
  );
}
