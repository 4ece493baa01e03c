/** Sets the budget of the account or of a project: the amount, the period, and when notices are sent. */
import { useState } from 'react';
import type { Budget, BudgetPeriod } from '../../api/organisation-types.js';
import { useChange } from '../../api/queries.js';
import { ChangeForm } from '../change-form.js';
import { Input, Select } from '../field.js';

const periods = [
  { value: 'monthly', label: 'Every month' },
  { value: 'weekly', label: 'Every Monday' },
  { value: 'daily', label: 'Every day' },
  { value: 'never', label: 'Never' },
];

export interface BudgetFormProps {
  budget: Budget | null;
  /** Sends the budget; null removes it. */
  save: (budget: SentBudget | null) => Promise<unknown>;
  /** The queries that it changes. */
  stale: readonly (readonly unknown[])[];
  onDone: () => void;
  /** What the budget is of. */
  of: string;
}

/** Alerts that are no numbers are for the gateway to refuse. */
interface SentBudget {
  limit_usd: string;
  period: BudgetPeriod;
  alert_at: unknown[];
}

export function BudgetForm({ budget, save, stale, onDone, of }: BudgetFormProps) {
  const [limit, setLimit] = useState(budget?.limit_usd ?? '');
  const [period, setPeriod] = useState<BudgetPeriod>(budget?.period ?? 'monthly');
  const [alerts, setAlerts] = useState((budget?.alert_at ?? [0.8, 1]).map((part) => `${part * 100}`).join(', '));
  const isNone = limit.trim() === '';
  const change = useChange(
    () => save(isNone ? null : { limit_usd: limit.trim().replace(/^\$/, ''), period, alert_at: alertsOf(alerts) }),
    stale,
  );
  return (
    <ChangeForm
      action={isNone && budget ? 'Remove the budget' : 'Save budget'}
      button="start"
      change={change}
      disabled={isNone && budget === null}
      onDone={onDone}
      params={['budget', 'budget.limit_usd', 'budget.period', 'budget.alert_at']}
    >
      {(at) => (
        <div className="grid gap-4 sm:grid-cols-3">
          <Input
            autoComplete="off"
            error={at('budget.limit_usd') ?? at('budget')}
            hint="Empty for no budget."
            inputMode="decimal"
            label="Budget (USD)"
            onChange={(event) => setLimit(event.target.value)}
            placeholder="500.00"
            value={limit}
          />
          <Select
            error={at('budget.period')}
            hint="At 00:00 UTC."
            label="Starts again"
            onChange={(event) => setPeriod(event.target.value as BudgetPeriod)}
            options={periods}
            value={period}
          />
          <Input
            autoComplete="off"
            error={at('budget.alert_at')}
            hint={`Owners and billing get a notice when this share of the budget of ${of} is spent. Separate several shares by commas.`}
            label="Alerts at (%)"
            onChange={(event) => setAlerts(event.target.value)}
            placeholder="50, 80, 100"
            value={alerts}
          />
        </div>
      )}
    </ChangeForm>
  );
}

function alertsOf(text: string): unknown[] {
  const parts = text.split(/[,\s]+/).filter(Boolean);
  return parts.map((part) => {
    const value = Number(part.replace('%', ''));
    return Number.isFinite(value) ? value / 100 : part;
  });
}
