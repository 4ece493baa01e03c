/** The settings of the account: its budget and alerts, its name, and what API keys may change. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { accountSettingsQuery, budgetQuery } from '../../api/organisation.js';
import type { AccountSettings } from '../../api/organisation-types.js';
import { useChange } from '../../api/queries.js';
import { Amount } from '../../components/amount.js';
import { Card } from '../../components/card.js';
import { ChangeForm } from '../../components/change-form.js';
import { Input } from '../../components/field.js';
import { BudgetBar } from '../../components/organisation/budget-bar.js';
import { BudgetForm } from '../../components/organisation/budget-form.js';
import { PageData } from '../../components/page-data.js';
import { PageHeader } from '../../components/page-header.js';
import { messageOf, Notice } from '../../components/states.js';
import { Switch } from '../../components/switch.js';
import { useToast } from '../../components/toast.js';
import { useLack, WhyNot } from '../../components/why-not.js';
import { CloseCard } from './close-card.js';

const stale = [['account-settings'], ['budget'], ['session']];

export function Page() {
  const settings = useQuery(accountSettingsQuery);
  return (
    <>
      <PageHeader description="Settings of the whole account and all of its projects." title="Account settings" />
      <PageData query={settings}>
        {(data) => (
          <div className="flex flex-col gap-5">
            <BudgetCard settings={data} />
            <div className="grid items-start gap-5 lg:grid-cols-2">
              <NameCard settings={data} />
              <RulesCard settings={data} />
            </div>
            <CloseCard />
          </div>
        )}
      </PageData>
    </>
  );
}

function BudgetCard({ settings: { budget } }: { settings: AccountSettings }) {
  const state = useQuery(budgetQuery);
  const lack = useLack('account.budget');
  const say = useToast();
  const spent = state.data?.account.spent_usd ?? '0';
  return (
    <Card
      description="All projects together. When it is used up, every request of the account is refused until the next period."
      title="Budget"
    >
      <div className="flex flex-col gap-5">
        {budget ? (
          <BudgetBar budget={budget} spent={spent} />
        ) : (
          <p className="text-ink-2">
            No budget. <Amount as="total" usd={spent} /> spent so far.
          </p>
        )}
        {lack === null ? (
          <BudgetForm
            budget={budget}
            key={JSON.stringify(budget)}
            of="the account"
            onDone={() => say('Budget saved. It holds for the next request.')}
            save={(next) => api('account', { method: 'PATCH', body: { budget: next } })}
            stale={stale}
          />
        ) : (
          <WhyNot reason={lack} />
        )}
      </div>
    </Card>
  );
}

function NameCard({ settings }: { settings: AccountSettings }) {
  const [name, setName] = useState(settings.name ?? '');
  const lack = useLack('account.manage');
  const say = useToast();
  const save = useChange(() => api('account', { method: 'PATCH', body: { name: name.trim() || null } }), stale);
  return (
    <Card title="Name">
      <ChangeForm
        action="Save name"
        button="start"
        change={save}
        disabled={lack !== null}
        onDone={() => say('Name saved.')}
        params={['name']}
      >
        {(at) => (
          <Input
            autoComplete="off"
            disabled={lack !== null}
            error={at('name')}
            hint="Shown in the account switcher and in invitations."
            label="Name of the account"
            maxLength={200}
            onChange={(event) => setName(event.target.value)}
            value={name}
          />
        )}
      </ChangeForm>
      {lack !== null && <WhyNot className="mt-2" reason={lack} />}
    </Card>
  );
}

function RulesCard({ settings }: { settings: AccountSettings }) {
  const say = useToast();
  const save = useChange(
    (change: Partial<AccountSettings>) => api('account', { method: 'PATCH', body: change }),
    stale,
  );
  const lacks = [useLack('account.manage'), useLack('account.recording')] as const;
  const set = (change: Partial<AccountSettings>) =>
    save.mutate(change, { onSuccess: () => say('Saved. It holds for the next request.') });
  return (
    <Card title="API keys and records">
      <div className="flex flex-col gap-5">
        {save.error && <Notice>{messageOf(save.error)}</Notice>}
        <div>
          <Switch
            checked={settings.settings_by_keys}
            disabled={lacks[0] !== null}
            hint="Off: only people and management keys change the routing policy, aliases and the fallback chain."
            label="API keys may change settings"
            onChange={(on) => set({ settings_by_keys: on })}
          />
          {lacks[0] !== null && <WhyNot reason={lacks[0]} />}
        </div>
        <div>
          <Switch
            checked={settings.record_end_users}
            disabled={lacks[1] !== null}
            hint="Keeps the end user that a request names with its record, so that you can see the spend of each. Off by default."
            label="Record end users"
            onChange={(on) => set({ record_end_users: on })}
          />
          {lacks[1] !== null && <WhyNot reason={lacks[1]} />}
        </div>
      </div>
    </Card>
  );
}
