/** The Keys page: create, search, list with spend and scope, edit, disable, and delete one or several after a confirmation. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { keysQuery, useChange } from '../../api/queries.js';
import type { Key } from '../../api/types.js';
import { Button } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { Input } from '../../components/field.js';
import { KeyIcon, PlusIcon } from '../../components/icons.js';
import { ProjectFilter, useProjectNames } from '../../components/organisation/project-filter.js';
import { PageData } from '../../components/page-data.js';
import { PageHeader } from '../../components/page-header.js';
import { EmptyState, messageOf, Notice } from '../../components/states.js';
import { Table } from '../../components/table.js';
import { useToast } from '../../components/toast.js';
import { RightButton, useLack } from '../../components/why-not.js';
import { count, plural } from '../../format/figures.js';
import { CreateKeyDialog } from './create-key-dialog.js';
import { EditKeyDialog } from './edit-key-dialog.js';
import { type KeyActions, keyColumns } from './key-columns.js';

const pageRows = 50;

export function Page() {
  const keys = useQuery(keysQuery);
  const { find: text = '', project } = useSearch({ strict: false }) as { find?: string; project?: string };
  const projectNames = useProjectNames();
  const [shown, setShown] = useState(pageRows);
  const mayNot = useLack('keys.change') !== null;
  const navigate = useNavigate();
  /** Open, and for which key it is a replacement. */
  const [creating, setCreating] = useState<{ instead: Key | null } | null>(null);
  const [edited, setEdited] = useState<Key | null>(null);
  const [doomed, setDoomed] = useState<readonly Key[] | null>(null);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const toggle = useChange(
    ({ id, disabled }: Key) =>
      api<Key>(`keys/${encodeURIComponent(id)}`, { method: 'PATCH', body: { disabled: !disabled } }),
    [['keys']],
  );
  const remove = useChange(deleteAll, [['keys']]);
  const say = useToast();
  const actions: KeyActions = {
    edit: setEdited,
    // The old key works until it is deleted, so that programs can be changed one by one.
    replace: (instead) => setCreating({ instead }),
    remove: (key) => setDoomed([key]),
    toggle: (key) =>
      toggle.mutate(key, {
        onSuccess: ({ disabled }) =>
          say(disabled ? 'API key disabled. The next request with it is refused.' : 'API key enabled.'),
      }),
    isChosen: ({ id }) => chosen.has(id),
    choose: ({ id }, on) => setChosen((now) => new Set(on ? [...now, id] : [...now].filter((one) => one !== id))),
  };
  const found = (list: readonly Key[]) =>
    list.filter((key) => (project === undefined || key.project === project) && matches(key, String(text)));
  const go = (change: { find?: string | undefined; project?: string | undefined }) => {
    setShown(pageRows);
    void navigate({ to: '/keys', search: { find: text || undefined, project, ...change } as never, replace: true });
  };
  const marked = (keys.data ?? []).filter(({ id }) => chosen.has(id));
  return (
    <div data-wide>
      <PageHeader
        actions={
          <RightButton
            icon={PlusIcon}
            onClick={() => setCreating({ instead: null })}
            right="keys.change"
            variant="primary"
          >
            Create key
          </RightButton>
        }
        description="Programs send an API key with each request. To rotate a key, create a second one, deploy it, then delete the first."
        title="Keys"
      />
      {toggle.error && <Notice>{messageOf(toggle.error)}</Notice>}
      {(keys.data?.length ?? 0) > 0 && (
        <div className="mb-4 flex flex-wrap items-end justify-between gap-3">
          <search className="flex w-full max-w-2xl flex-wrap gap-3">
            <Input
              className="min-w-0 grow basis-56"
              label="Search"
              onChange={(event) => go({ find: event.target.value || undefined })}
              placeholder="Name, last four characters, model"
              type="search"
              value={String(text)}
            />
            <ProjectFilter
              className="min-w-0 grow basis-48"
              onChange={(id) => go({ project: id })}
              value={project ?? ''}
            />
          </search>
          {marked.length > 0 && (
            <Button onClick={() => setDoomed(marked)} variant="danger">
              {`Delete ${plural(marked.length, 'key')}`}
            </Button>
          )}
        </div>
      )}
      <Card flush>
        <PageData query={keys}>
          {(list) =>
            list.length === 0 ? (
              <EmptyState icon={KeyIcon} title="No API keys yet">
                Create one to send requests from your programs. It is shown only once.
              </EmptyState>
            ) : found(list).length === 0 ? (
              <EmptyState icon={KeyIcon} title="No API key matches" />
            ) : (
              <>
                <Table
                  caption="API keys"
                  columns={keyColumns({ actions: mayNot ? null : actions, projectNames })}
                  rowKey={({ id }) => id}
                  rows={found(list).slice(0, shown)}
                />
                {found(list).length > shown && (
                  <div className="flex items-center justify-center gap-3 border-t border-line p-3 text-sm text-ink-3">
                    {`${count(shown)} of ${count(found(list).length)}`}
                    <Button onClick={() => setShown(shown + pageRows)} variant="ghost">
                      Show more
                    </Button>
                  </div>
                )}
              </>
            )
          }
        </PageData>
      </Card>
      {edited && <EditKeyDialog key={edited.id} of={edited} onClose={() => setEdited(null)} />}
      {creating && (
        <CreateKeyDialog instead={creating.instead} onClose={() => setCreating(null)} project={project ?? null} />
      )}
      <ConfirmDialog
        action={doomed && doomed.length > 1 ? `Delete ${doomed.length} keys` : 'Delete key'}
        change={remove}
        onClose={() => setDoomed(null)}
        onDone={() => {
          setChosen(new Set());
          say('Deleted. The next request with it is refused.');
        }}
        subject={doomed}
        title={doomed && doomed.length > 1 ? `Delete ${doomed.length} keys?` : 'Delete this key?'}
      >
        <Doomed keys={doomed ?? []} />
      </ConfirmDialog>
    </div>
  );
}

/** One after the other, so that a refusal names the key at which it stopped. */
async function deleteAll(keys: readonly Key[]): Promise<void> {
  for (const key of keys) await api(`keys/${encodeURIComponent(key.id)}`, { method: 'DELETE' });
}

function matches({ name, last_four: end, allowed_models: models, state, kind }: Key, text: string): boolean {
  const all = [name, end, state, kind, ...(models ?? [])].join(' ').toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word.replace(/^sk-lr-…?/, '')));
}

const namedMax = 8;

function Doomed({ keys }: { keys: readonly Key[] }) {
  const named = keys.slice(0, namedMax).map(({ name, label }) => `${name} (${label})`);
  const more = keys.length > namedMax ? ` and ${keys.length - namedMax} more` : '';
  return (
    <>
      <strong className="font-medium wrap-anywhere text-ink">
        {named.join(', ')}
        {more}
      </strong>{' '}
      {keys.length > 1 ? 'stop' : 'stops'} working at once, for every program that uses{' '}
      {keys.length > 1 ? 'them' : 'it'}. This cannot be undone.
    </>
  );
}
