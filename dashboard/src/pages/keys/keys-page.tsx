/** The API keys page: create, list with spend and scope, edit, disable, and delete after a confirmation. */
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
import { EmptyState, messageOf, Notice } from '../../components/states.js';
import { type Column, Table } from '../../components/table.js';
import { useToast } from '../../components/toast.js';
import { date, fromNow } from '../../format/time.js';
import { CreateKeyDialog } from './create-key-dialog.js';
import { EditKeyDialog } from './edit-key-dialog.js';
import { Scope, Spent } from './key-cells.js';

export function Page() {
  const keys = useQuery(keysQuery);
  const [creating, setCreating] = useState(false);
  const [edited, setEdited] = useState<Key | null>(null);
  const [doomed, setDoomed] = useState<Key | null>(null);
  const toggle = useChange(
    ({ id, disabled }: Key) =>
      api<Key>(`keys/${encodeURIComponent(id)}`, { method: 'PATCH', body: { disabled: !disabled } }),
    [['keys']],
  );
  const remove = useChange((key: Key) => api(`keys/${encodeURIComponent(key.id)}`, { method: 'DELETE' }), [['keys']]);
  const say = useToast();
  const actions: KeyActions = {
    edit: setEdited,
    remove: setDoomed,
    toggle: (key) =>
      toggle.mutate(key, {
        onSuccess: ({ disabled }) =>
          say(disabled ? 'API key disabled. The next request with it is refused.' : 'API key enabled.'),
      }),
  };
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
      {toggle.error && <Notice>{messageOf(toggle.error)}</Notice>}
      <Card flush>
        <PageData query={keys}>
          {(list) =>
            list.length === 0 ? (
              <EmptyState icon={KeyIcon} title="No API keys yet">
                Create one to send requests from your programs. It is shown only once.
              </EmptyState>
            ) : (
              <Table caption="API keys" columns={columns(actions)} rowKey={({ id }) => id} rows={list} />
            )
          }
        </PageData>
      </Card>
      {edited && <EditKeyDialog key={edited.id} of={edited} onClose={() => setEdited(null)} />}
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

interface KeyActions {
  edit: (key: Key) => void;
  toggle: (key: Key) => void;
  remove: (key: Key) => void;
}

function columns({ edit, toggle, remove }: KeyActions): Column<Key>[] {
  return [
    {
      header: 'Name',
      lead: true,
      cell: (key) => (
        <span className="flex flex-wrap items-center gap-2">
          <span className="font-medium wrap-anywhere text-ink">{key.name}</span>
          {key.state === 'expired' && <Badge tone="warn">expired</Badge>}
          {key.state === 'disabled' && <Badge tone="danger">disabled</Badge>}
          {key.kind === 'management' && <Badge tone="accent">management</Badge>}
        </span>
      ),
    },
    { header: 'API key', cell: (key) => <code className="text-sm whitespace-nowrap text-ink-2">{key.label}</code> },
    { header: 'Scope', cell: (key) => <Scope of={key} /> },
    { header: 'Expires', cell: (key) => <When at={key.expires_at} /> },
    { header: 'Last used', cell: (key) => <When at={key.last_used_at} /> },
    { header: 'Spent', end: true, cell: (key) => <Spent of={key} /> },
    {
      header: '',
      name: 'Actions',
      end: true,
      cell: (key) => (
        <span className="flex justify-end gap-1 max-sm:flex-wrap">
          <Button onClick={() => edit(key)} size="small" title={`Edit the API key ${key.name}`} variant="ghost">
            Edit
          </Button>
          <Button
            onClick={() => toggle(key)}
            size="small"
            title={`${key.disabled ? 'Enable' : 'Disable'} the API key ${key.name}`}
            variant="ghost"
          >
            {key.disabled ? 'Enable' : 'Disable'}
          </Button>
          <Button onClick={() => remove(key)} size="small" title={`Delete the API key ${key.name}`} variant="ghost">
            Delete
          </Button>
        </span>
      ),
    },
  ];
}

function When({ at }: { at: string | null }) {
  if (at === null) return <span className="text-ink-2">Never</span>;
  return (
    <span className="whitespace-nowrap text-ink-2" title={date(at)}>
      {fromNow(at)}
    </span>
  );
}
