/** Describes budgets, and what is left of them. */
import { budgetPeriods } from '../../../domain/organisation.js';
import { array, object, oneOfValues, orNull, textOrNull, time, usd } from '../schema.js';

const period = oneOfValues(budgetPeriods, 'Periods begin at 00:00 UTC, weeks on Monday.');

/** As it is shown. */
export const budget = object({
  limit_usd: usd('How much may be spent in a period.'),
  period,
  alert_at: array({ type: 'number' }, 'Parts of the limit at which a notice is sent.'),
});

const allowance = (what: string) =>
  object({
    limit_usd: textOrNull(`How much ${what} may spend in a period; null is no limit.`),
    period,
    spent_usd: usd('What was spent in the current period; with `never`, in all.'),
    held_usd: usd('What requests in flight hold of the limit.'),
    remaining_usd: textOrNull('What is left of the limit, without what is held; null without a limit.'),
    ends_at: orNull(time('When the next period begins; null for `never`.')),
  });

export const budgetReport = object({
  object: { const: 'budget' },
  key: allowance('the key'),
  project: allowance('the project'),
  account: allowance('the account'),
});
