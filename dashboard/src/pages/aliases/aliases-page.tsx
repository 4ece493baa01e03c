/** The Aliases page: up to five per account. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { aliasesQuery, useChange } from '../../api/queries.js';
import type { Alias } from '../../api/types.js';
import { Button } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { CopyButton } from '../../components/copy-button.js';
import { AliasIcon, PlusIcon } from '../../components/icons.js';
import { ModelId } from '../../components/model-id.js';
import { PageData } from '../../components/page-data.js';
import { PageHeader } from '../../components/page-header.js';
import { EmptyState } from '../../components/states.js';
import { type Column, Table } from '../../components/table.js';
import { useToast } from '../../components/toast.js';
import { RightButton, useLack } from '../../components/why-not.js';
import { fromNow } from '../../format/time.js';
import { AliasDialog } from './alias-dialog.js';

const slots = 5;

export function Page() {
  const aliases = useQuery(aliasesQuery);
  const [edited, setEdited] = useState<Alias | 'new' | null>(null);
  const [doomed, setDoomed] = useState<Alias | null>(null);
  const say = useToast();
  const remove = useChange(
    ({ name }: Alias) => api(`v1/aliases/${encodeURIComponent(name)}`, { method: 'DELETE' }),
    [['aliases'], ['catalogue']],
  );
  const used = aliases.data?.length ?? 0;
  const mayNot = useLack('settings.change') !== null;
  return (
    <>
      <PageHeader
        actions={
          <RightButton
            disabled={used >= slots}
            icon={PlusIcon}
            onClick={() => setEdited('new')}
            right="settings.change"
            variant="primary"
          >
            Create alias
          </RightButton>
        }
        description="Your own name for a model id. Change its target here, and every program that uses the alias follows."
        title="Aliases"
      />
      <Card
        action={<span className="tabular text-sm text-ink-3">{`${used} of ${slots} used`}</span>}
        flush
        title="Your aliases"
      >
        <PageData query={aliases}>
          {(list) =>
            list.length === 0 ? (
              <EmptyState icon={AliasIcon} title="No aliases yet">
                Give a model a name such as <code>alias/fast</code>, and use that name as the model in requests.
              </EmptyState>
            ) : (
              <Table
                caption="Aliases"
                columns={mayNot ? columns(setEdited, setDoomed).slice(0, -1) : columns(setEdited, setDoomed)}
                rowKey={({ name }) => name}
                rows={list}
              />
            )
          }
        </PageData>
      </Card>
      <AliasDialog
        alias={edited}
        key={typeof edited === 'object' ? edited?.name : edited}
        onClose={() => setEdited(null)}
      />
      <ConfirmDialog
        action="Delete alias"
        change={remove}
        onClose={() => setDoomed(null)}
        onDone={() => say('Alias deleted.')}
        subject={doomed}
        title="Delete this alias?"
      >
        Requests to <code className="text-ink">alias/{doomed?.name}</code> will get 404.
      </ConfirmDialog>
    </>
  );
}

function columns(onEdit: (alias: Alias) => void, onDelete: (alias: Alias) => void): Column<Alias>[] {
  return [
    {
      header: 'Alias',
      lead: true,
      cell: ({ name }) => (
        <span className="flex items-center gap-1 font-medium text-ink">
          <ModelId id={`alias/${name}`} />
          <CopyButton label={`Copy alias/${name}`} text={`alias/${name}`} />
        </span>
      ),
    },
    { header: 'Points to', cell: ({ model_id: id }) => <ModelId id={id} /> },
    {
      header: 'Changed',
      cell: ({ updated_at: at }) => <span className="whitespace-nowrap text-ink-2">{fromNow(at)}</span>,
    },
    {
      header: '',
      name: 'Actions',
      end: true,
      cell: (alias) => (
        <span className="inline-flex gap-1">
          <Button onClick={() => onEdit(alias)} size="small" title={`Repoint alias/${alias.name}`} variant="ghost">
            Repoint
          </Button>
          <Button onClick={() => onDelete(alias)} size="small" title={`Delete alias/${alias.name}`} variant="ghost">
            Delete
          </Button>
        </span>
      ),
    },
  ];
}
