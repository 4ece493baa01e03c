/** An account's keys and its latest ledger entries, for operators. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { useChange } from '../../api/queries.js';
import type { LedgerEntry } from '../../api/usage-types.js';
import { Amount } from '../../components/amount.js';
import { Badge } from '../../components/badge.js';
import { Button } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { PageData } from '../../components/page-data.js';
import { EmptyState } from '../../components/states.js';
import { type Column, Table } from '../../components/table.js';
import { useToast } from '../../components/toast.js';
import { date, dateTime } from '../../format/time.js';
import { type AccountKey, accountKeysQuery, accountLedgerQuery, accountPath, ledgerShown } from './account-queries.js';

export function AccountKeys({ account }: { account: string }) {
  const keys = useQuery(accountKeysQuery(account));
  const [doomed, setDoomed] = useState<AccountKey | null>(null);
  const remove = useChange(
    (key: AccountKey) => api(`${accountPath(account)}/keys/${key.id}`, { method: 'DELETE' }),
    [['operator']],
  );
  const say = useToast();
  const columns: Column<AccountKey>[] = [
    {
      header: 'Name',
      lead: true,
      cell: ({ name, state }) => (
        <span className="flex flex-wrap items-center gap-2">
          <span className="wrap-anywhere">{name}</span>
          {state === 'expired' && <Badge tone="warn">expired</Badge>}
          {state === 'disabled' && <Badge tone="danger">disabled</Badge>}
        </span>
      ),
    },
    { header: 'Token', cell: (key) => <code className="text-sm text-ink-2">{`sk-lr-…${key.last_four}`}</code> },
    { header: 'Created', cell: (key) => <span className="text-ink-2">{date(key.created_at)}</span> },
    {
      header: 'Expires',
      cell: (key) => <span className="text-ink-2">{key.expires_at ? date(key.expires_at) : 'Never'}</span>,
    },
    {
      header: '',
      name: 'Actions',
      end: true,
      cell: (key) => (
        <Button onClick={() => setDoomed(key)} size="small" title={`Delete the API key ${key.name}`} variant="ghost">
          Delete
        </Button>
      ),
    },
  ];
  return (
    <Card flush title="Keys">
      <PageData query={keys}>
        {(list) =>
          list.length === 0 ? (
            <EmptyState title="No API keys" />
          ) : (
            <Table caption="API keys of this account" columns={columns} isLow rowKey={({ id }) => id} rows={list} />
          )
        }
      </PageData>
      <ConfirmDialog
        action="Delete key"
        change={remove}
        onClose={() => setDoomed(null)}
        onDone={() => say('API key deleted.')}
        subject={doomed}
        title="Delete this API key?"
      >
        <strong className="font-medium text-ink">{doomed?.name}</strong> stops working at once.
      </ConfirmDialog>
    </Card>
  );
}

function LedgerRequest({ id, account }: { id: string; account: string }) {
  return (
    <Link
      className="font-mono text-xs whitespace-nowrap text-ink-2 underline decoration-field/60 underline-offset-4 hover:decoration-ink"
      params={{ id }}
      search={{ account }}
      to="/usage/$id"
    >
      {id}
    </Link>
  );
}

const ledgerColumns = (account: string): Column<LedgerEntry>[] => [
  {
    header: 'Time',
    lead: true,
    cell: ({ created_at: at }) => <span className="whitespace-nowrap">{dateTime(at)}</span>,
  },
  { header: 'Kind', cell: ({ kind }) => <Badge>{kind}</Badge> },
  {
    header: 'For',
    cell: ({ generation_id: id, note }) =>
      id ? <LedgerRequest account={account} id={id} /> : <span className="wrap-anywhere text-ink-2">{note}</span>,
  },
  { header: 'Amount', end: true, cell: ({ amount_usd: amount }) => <Amount as="row" signed usd={amount} /> },
  { header: 'Balance', end: true, cell: ({ balance_usd: balance }) => <Amount as="total" usd={balance} /> },
];

export function AccountLedger({ account }: { account: string }) {
  const ledger = useQuery(accountLedgerQuery(account));
  return (
    <Card description={`The latest ${ledgerShown} entries`} flush title="Ledger">
      <PageData query={ledger}>
        {(list) =>
          list.length === 0 ? (
            <EmptyState title="No entries" />
          ) : (
            <Table
              caption="Ledger of this account"
              columns={ledgerColumns(account)}
              isLow
              rowKey={({ id }) => id}
              rows={list}
            />
          )
        }
      </PageData>
    </Card>
  );
}
