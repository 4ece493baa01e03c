/** For operators: one account, with its state, limits, credit, password, keys and ledger. */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { useChange } from '../../api/queries.js';
import type { OperatorAccount } from '../../api/usage-types.js';
import { Amount } from '../../components/amount.js';
import { Badge } from '../../components/badge.js';
import { Button } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { Facts } from '../../components/facts.js';
import { BackIcon } from '../../components/icons.js';
import { PageData } from '../../components/page-data.js';
import { PageHeader } from '../../components/page-header.js';
import { messageOf, Notice, SkeletonRows } from '../../components/states.js';
import { Switch } from '../../components/switch.js';
import { useToast } from '../../components/toast.js';
import { dateTime } from '../../format/time.js';
import { CreditDialog, PasswordDialog } from './account-dialogs.js';
import { accountPath, accountQuery } from './account-queries.js';
import { AccountKeys, AccountLedger } from './account-records.js';
import { AccountUsage } from './account-usage.js';
import { LimitsForm } from './limits-form.js';

export function Page() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const account = useQuery(accountQuery(id));
  return (
    <>
      <PageHeader
        back={
          <Link className="text-ink-3 hover:text-ink" to="/accounts">
            <BackIcon className="mr-1 inline size-3.5" />
            All accounts
          </Link>
        }
        title={account.data?.email ?? 'Account'}
      />
      <PageData
        query={account}
        skeleton={
          <Card flush>
            <SkeletonRows rows={8} />
          </Card>
        }
      >
        {(data) => <Details account={data} />}
      </PageData>
    </>
  );
}

function Details({ account }: { account: OperatorAccount }) {
  const path = accountPath(account.id);
  const [dialog, setDialog] = useState<'credit' | 'password' | null>(null);
  const say = useToast();
  const patch = useChange((change: object) => api(path, { method: 'PATCH', body: change }), [['operator']]);
  const set = (change: object, done: string) => patch.mutate(change, { onSuccess: () => say(done) });
  const suspended = account.status === 'suspended';
  return (
    <div className="flex flex-col gap-5">
      {patch.isError && <Notice>{messageOf(patch.error)}</Notice>}
      <div className="grid items-start gap-5 lg:grid-cols-2">
        <Card
          action={
            <Button onClick={() => setDialog('credit')} size="small">
              Add credit
            </Button>
          }
          title="Account"
        >
          <Facts
            facts={[
              { name: 'Balance', value: <Amount as="total" className="font-semibold" usd={account.balance_usd} /> },
              { name: 'State', value: <Badge tone={suspended ? 'danger' : 'good'}>{account.status}</Badge> },
              { name: 'Id', value: <code className="text-xs">{account.id}</code>, ownLine: true },
              { name: 'Billing country', value: account.billing_country ?? '–' },
              { name: 'Created', value: dateTime(account.created_at) },
            ]}
          />
        </Card>
        <Card title="Access">
          <div className="flex flex-col gap-4">
            <Switch
              checked={suspended}
              hint="Every request of a suspended account gets 403."
              label="Suspended"
              onChange={(on) =>
                set({ status: on ? 'suspended' : 'active' }, on ? 'Account suspended.' : 'Account active.')
              }
            />
            {account.sign_in && (
              <Switch
                checked={account.operator}
                hint="Can see and change everything on the operator pages."
                label="Operator"
                onChange={(operator) =>
                  set(
                    { operator },
                    operator ? 'This account is now an operator.' : 'This account is no longer an operator.',
                  )
                }
              />
            )}
            <div className="flex items-start justify-between gap-4">
              <p className="text-sm text-ink-2">
                {account.sign_in
                  ? 'A new password ends all sessions of the account.'
                  : 'This account has no password and cannot sign in.'}
              </p>
              <Button onClick={() => setDialog('password')} size="small">
                Set password
              </Button>
            </div>
          </div>
        </Card>
      </div>
      <LimitsForm
        account={account}
        key={JSON.stringify(account.limits)}
        onSave={(limits) => set({ limits }, 'Limits saved.')}
      />
      <AccountUsage account={account.id} />
      <AccountKeys account={account.id} />
      <AccountLedger account={account.id} />
      <CreditDialog onClose={() => setDialog(null)} open={dialog === 'credit'} path={path} />
      <PasswordDialog onClose={() => setDialog(null)} open={dialog === 'password'} path={path} />
    </div>
  );
}
