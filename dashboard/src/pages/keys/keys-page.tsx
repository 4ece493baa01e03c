/** The API keys page: create, list by prefix and last four characters, and delete after a confirmation. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { keysQuery, useChange } from '../../api/queries.js';
import type { Key } from '../../api/types.js';
import { Badge } from '../../components/badge.js';
import { Button } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { KeyIcon, PlusIcon } from '../../components/icons.js';
import { PageData } from '../../components/page-data.js';
import { PageHeader } from '../../components/page-header.js';
import { EmptyState } from '../../components/states.js';
import { type Column, Table } from '../../components/table.js';
import { useToast } from '../../components/toast.js';
import { usd } from '../../format/money.js';
import { date, fromNow } from '../../format/time.js';
import { CreateKeyDialog } from './create-key-dialog.js';

export function Page() {
  const keys = useQuery(keysQuery);
  const [creating, setCreating] = useState(false);
  const [doomed, setDoomed] = useState<Key | null>(null);
  const remove = useChange((key: Key) => api(`keys/${encodeURIComponent(key.id)}`, { method: 'DELETE' }), [['keys']]);
  const say = useToast();
  return (
    <>
      <PageHeader
        actions={
          <Button icon={PlusIcon} onClick={() => setCreating(true)} variant="primary">
            Create API key
          </Button>
        }
        description="Programs send an API key with each request. To rotate a key, create a second one, deploy it, then delete the first."
        title="API keys"
      />
      <Card flush>
        <PageData query={keys}>
          {(list) =>
            list.length === 0 ? (
              <EmptyState icon={KeyIcon} title="No API keys yet">
                Create one to send requests from your programs. It is shown only once.
              </EmptyState>
            ) : (
              <Table caption="API keys" columns={columns(setDoomed)} rowKey={({ id }) => id} rows={list} />
            )
          }
        </PageData>
      </Card>
      <CreateKeyDialog onClose={() => setCreating(false)} open={creating} />
      <ConfirmDialog
        action="Delete API key"
        change={remove}
        onClose={() => setDoomed(null)}
        onDone={() => say('API key deleted. The next request with it is refused.')}
        subject={doomed}
        title="Delete this API key?"
      >
        <strong className="font-medium text-ink">{doomed?.name}</strong> ({doomed?.label}) stops working at once, for
        every program that uses it. This cannot be undone.
      </ConfirmDialog>
    </>
  );
}

function columns(onDelete: (key: Key) => void): Column<Key>[] {
  return [
    {
      header: 'Name',
      lead: true,
      cell: (key) => (
        <span className="flex flex-wrap items-center gap-2">
          <span className="font-medium wrap-anywhere text-ink">{key.name}</span>
          {key.state === 'expired' && <Badge tone="warn">expired</Badge>}
        </span>
      ),
    },
    { header: 'API key', cell: (key) => <code className="text-sm whitespace-nowrap text-ink-2">{key.label}</code> },
    { header: 'Created', cell: (key) => <span className="whitespace-nowrap text-ink-2">{date(key.created_at)}</span> },
    { header: 'Expires', cell: (key) => <Expiry of={key} /> },
    { header: 'Spent', end: true, cell: (key) => usd(key.usage_usd) },
    {
      header: '',
      name: 'Actions',
      end: true,
      cell: (key) => (
        <Button onClick={() => onDelete(key)} size="small" title={`Delete the API key ${key.name}`} variant="ghost">
          Delete
        </Button>
      ),
    },
  ];
}

function Expiry({ of: { expires_at: at } }: { of: Key }) {
  if (at === null) return <span className="text-ink-2">Never</span>;
  return (
    <span className="whitespace-nowrap text-ink-2" title={date(at)}>
      {fromNow(at)}
    </span>
  );
}
