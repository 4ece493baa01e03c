/** The columns of the table of API keys. */
import type { Key } from '../../api/types.js';
import { Badge } from '../../components/badge.js';
import { Button } from '../../components/button.js';
import type { Column } from '../../components/table.js';
import { UsageLink } from '../../components/usage-link.js';
import { date, fromNow } from '../../format/time.js';
import { Scope, Spent } from './key-cells.js';

export interface KeyActions {
  edit: (key: Key) => void;
  /** Offers a new key in the place of one of another system. */
  replace: (key: Key) => void;
  toggle: (key: Key) => void;
  remove: (key: Key) => void;
  isChosen: (key: Key) => boolean;
  choose: (key: Key, on: boolean) => void;
}

const systems: Readonly<Record<string, string>> = {
  ...{ litellm: 'LiteLLM', bifrost: 'Bifrost', portkey: 'Portkey', openrouter: 'OpenRouter' },
};

function systemName(system: string): string {
  return systems[system] ?? system;
}

interface KeyColumns {
  /** null where the role only reads. */
  actions: KeyActions | null;
  projectNames: ReadonlyMap<string, string>;
}

export function keyColumns({ actions, projectNames }: KeyColumns): Column<Key>[] {
  return [
    {
      header: 'Name',
      lead: true,
      cell: (key) => (
        <span className="flex items-center gap-2.5">
          {actions && (
            <input
              aria-label={`Choose the key ${key.name}`}
              checked={actions.isChosen(key)}
              className="size-4 shrink-0 accent-(--accent)"
              onChange={(event) => actions.choose(key, event.target.checked)}
              type="checkbox"
            />
          )}
          <span className="flex min-w-0 flex-col">
            <UsageLink
              className="font-medium wrap-anywhere text-ink md:max-w-44 lg:min-w-40 xl:max-w-96"
              search={{ key: key.name }}
              title={`Usage of ${key.name}`}
            >
              {key.name}
            </UsageLink>
            <span className="text-xs text-ink-3">
              <code className="whitespace-nowrap">{key.label}</code>
              {key.holder && ` · held by ${key.holder_email ?? 'a member'}`}
              {key.imported_from && (
                <>
                  {' · '}
                  <span className="whitespace-nowrap">{`brought from ${systemName(key.imported_from.system)}`}</span>
                </>
              )}
            </span>
          </span>
          {key.state === 'expired' && <Badge tone="warn">expired</Badge>}
          {key.state === 'disabled' && <Badge tone="danger">disabled</Badge>}
          {key.kind === 'management' && <Badge tone="accent">management</Badge>}
        </span>
      ),
    },
    ...(projectNames.size > 1
      ? [
          {
            header: 'Project',
            className: 'md:max-lg:hidden',
            cell: ({ project }: Key) => (
              <span className="block text-ink-2 max-md:wrap-anywhere md:wrap-break-word">
                {project === null ? 'Whole account' : (projectNames.get(project) ?? project)}
              </span>
            ),
          },
        ]
      : []),
    // Between a phone and a wide screen, the buttons need the space.
    { header: 'Scope', className: 'md:max-xl:hidden', cell: (key) => <Scope of={key} /> },
    { header: 'Expires', cell: (key) => <When at={key.expires_at} /> },
    { header: 'Last used', cell: (key) => <When at={key.last_used_at} /> },
    { header: 'Spent', end: true, cell: (key) => <Spent of={key} /> },
    ...(actions
      ? [
          {
            header: '',
            name: 'Actions',
            end: true,
            cell: (key: Key) => (
              <span className="flex flex-wrap justify-end">
                {key.imported_from && (
                  <Button
                    onClick={() => actions.replace(key)}
                    size="small"
                    title={`Replace the key ${key.name} by a new key`}
                    variant="ghost"
                  >
                    Replace by a new key
                  </Button>
                )}
                <span className="flex">
                  <Button
                    onClick={() => actions.edit(key)}
                    size="small"
                    title={`Edit the key ${key.name}`}
                    variant="ghost"
                  >
                    Edit
                  </Button>
                  <Button
                    onClick={() => actions.toggle(key)}
                    size="small"
                    title={`${key.disabled ? 'Enable' : 'Disable'} the key ${key.name}`}
                    variant="ghost"
                  >
                    {key.disabled ? 'Enable' : 'Disable'}
                  </Button>
                  <Button
                    onClick={() => actions.remove(key)}
                    size="small"
                    title={`Delete the key ${key.name}`}
                    variant="ghost"
                  >
                    Delete
                  </Button>
                </span>
              </span>
            ),
          },
        ]
      : []),
  ];
}

function When({ at }: { at: string | null }) {
  if (at === null) return <span className="text-ink-2">Never</span>;
  return (
    <span className="whitespace-nowrap text-ink-2 lg:max-xl:whitespace-normal" title={date(at)}>
      {fromNow(at)}
    </span>
  );
}
