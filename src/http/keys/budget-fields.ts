/** The budget of an account or a project: how a request sends it, what becomes of it, and how it is shown. */
import { z } from 'zod';
import { dayMs } from '../../accounts/keys/limit-period.js';
import { parseUsd, usdText } from '../../base/money.js';
import { type Budget, budgetPeriods } from '../../domain/organisation.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { decimalAmount } from '../admin/fields.js';

const thresholdsMax = 20;
const defaultAlertAt: readonly number[] = [0.8, 1];

const alertsExpected = `must be a list of at most ${thresholdsMax} numbers above 0 and up to 1, like [0.8, 1]`;
const isThreshold = (value: unknown): boolean => typeof value === 'number' && value > 0 && value <= 1;

/** A fault of an entry is one of the list. */
const alertAt = z
  .unknown()
  .refine((value) => Array.isArray(value) && value.length <= thresholdsMax && value.every(isThreshold), alertsExpected)
  .meta({
    type: 'array',
    maxItems: thresholdsMax,
    items: { type: 'number', exclusiveMinimum: 0, maximum: 1 },
  });

export const budgetFields = z
  .strictObject(
    {
      limit_usd: decimalAmount.describe('How much may be spent in a period, as an exact decimal; `0` admits nothing.'),
      period: z
        .enum(budgetPeriods, 'must be "never", "daily", "weekly" or "monthly"')
        .optional()
        .describe('Periods begin at 00:00 UTC, weeks on Monday; `monthly` where it is left out.'),
      alert_at: alertAt
        .optional()
        .describe('Parts of the limit at which a notice is sent; `[0.8, 1]` where they are left out.'),
    },
    'must be an object like {"limit_usd": "500", "period": "monthly"}, or null',
  )
  .nullable()
  .optional()
  .describe('How much may be spent in a period; null is no budget.');

export const openingSpent = decimalAmount
  .optional()
  .describe('What counts as spent in the current period of the budget beside what was spent here. It is in no ledger.');

export interface SentBudget {
  readonly budget?: z.infer<typeof budgetFields>;
  /** Of operators only. */
  readonly opening_spent_usd?: string | undefined;
}

/**
 * The budget that a change leaves; undefined where it is not about one. What was spent elsewhere in the current period stays. Throws
 * field_invalid for such spending without a budget.
 */
export function changedBudget(sent: SentBudget, current: Budget | null, nowMs: number): Budget | null | undefined {
  const { budget, opening_spent_usd } = sent;
  if (budget === undefined && opening_spent_usd === undefined) return undefined;
  const set = budget === undefined ? current : budget && readBudget(budget);
  if (set === null) {
    if (opening_spent_usd === undefined) return null;
    const reason = `is "${opening_spent_usd}", but there is no budget that it counts in: send it with a budget`;
    throw gatewayError('field_invalid', { param: 'opening_spent_usd', reason });
  }
  const { opening: _, ...rest } = set;
  const opening =
    opening_spent_usd === undefined
      ? current?.opening
      : { day: Math.floor(nowMs / dayMs), spentPico: parseUsd(opening_spent_usd)! };
  return opening ? { ...rest, opening } : rest;
}

function readBudget({ limit_usd, period = 'monthly', alert_at }: NonNullable<SentBudget['budget']>): Budget {
  const alertAt = [...new Set((alert_at as number[] | undefined) ?? defaultAlertAt)].sort((one, other) => one - other);
  return { limitPico: parseUsd(limit_usd)!, period, alertAt };
}

export function budgetJson(budget: Budget | null) {
  if (budget === null) return null;
  const { limitPico, period, alertAt } = budget;
  return { limit_usd: usdText(limitPico), period, alert_at: alertAt };
}
