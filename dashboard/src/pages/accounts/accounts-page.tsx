/** For operators: every account with its balance and state. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { accountsQuery } from '../../api/queries.js';
import type { OperatorAccount } from '../../api/usage-types.js';
import { Amount } from '../../components/amount.js';
import { Badge } from '../../components/badge.js';
import { Button } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { Input } from '../../components/field.js';
import { AccountsIcon, PlusIcon } from '../../components/icons.js';
import { PageData } from '../../components/page-data.js';
import { PageHeader } from '../../components/page-header.js';
import { EmptyState } from '../../components/states.js';
import { type Column, Table } from '../../components/table.js';
import { isNegative, isZero } from '../../format/money.js';
import { date } from '../../format/time.js';
import { CreateAccountDialog } from './create-account-dialog.js';

export function Page() {
  const accounts = useQuery(accountsQuery);
  const [text, setText] = useState('');
  const [creating, setCreating] = useState(false);
  const wanted = text.trim().toLowerCase();
  const found = (list: OperatorAccount[]) =>
    list.filter(({ email, name, id }) => `${email} ${name ?? ''} ${id}`.toLowerCase().includes(wanted));
  return (
    <>
      <PageHeader
        actions={
          <Button icon={PlusIcon} onClick={() => setCreating(true)} variant="primary">
            Create account
          </Button>
        }
        title="Accounts"
      />
      <search className="mb-4 block max-w-sm">
        <Input
          label="Search"
          onChange={(event) => setText(event.target.value)}
          placeholder="Email, name or id"
          type="search"
          value={text}
        />
      </search>
      <Card flush>
        <PageData query={accounts}>
          {(list) =>
            found(list).length === 0 ? (
              <EmptyState icon={AccountsIcon} title={wanted ? 'No account matches' : 'No accounts yet'} />
            ) : (
              <Table caption="Accounts" columns={columns} rowKey={({ id }) => id} rows={found(list)} />
            )
          }
        </PageData>
      </Card>
      <CreateAccountDialog onClose={() => setCreating(false)} open={creating} />
    </>
  );
}

const columns: Column<OperatorAccount>[] = [
  {
    header: 'Email',
    lead: true,
    cell: ({ id, email, name }) => (
      // A long address goes over two lines rather than being cut off.
      <span className="block md:max-w-64 xl:max-w-none">
        <Link
          className="block font-medium wrap-anywhere text-ink underline decoration-field/60 underline-offset-4 hover:decoration-ink"
          params={{ id }}
          title={email}
          to="/accounts/$id"
        >
          {email}
        </Link>
        {name && <span className="block text-sm wrap-anywhere text-ink-3">{name}</span>}
      </span>
    ),
  },
  {
    header: 'State',
    cell: ({ status, operator, sign_in: signIn }) => (
      <span className="inline-flex flex-wrap gap-1.5">
        <Badge tone={status === 'active' ? 'good' : 'danger'}>{status}</Badge>
        {operator && <Badge tone="accent">operator</Badge>}
        {!signIn && <Badge>no password</Badge>}
      </span>
    ),
  },
  { header: 'Country', cell: ({ billing_country: country }) => country ?? '–' },
  { header: 'Since', cell: ({ created_at: at }) => <span className="whitespace-nowrap text-ink-2">{date(at)}</span> },
  {
    header: 'Balance',
    end: true,
    cell: ({ balance_usd: balance }) => (
      <Amount as="total" className={isNegative(balance) || isZero(balance) ? 'text-danger' : ''} usd={balance} />
    ),
  },
];
