/** The columns of the credentials: what each is, whether it works, when it was used, and what can be done with it. */
import type { Credential } from '../../api/credentials.js';
import { Badge, type Tone } from '../../components/badge.js';
import { Button } from '../../components/button.js';
import type { Column } from '../../components/table.js';
import { exactTime, fromNow } from '../../format/time.js';
import { textsOfUse } from './credential-form.js';

export interface CredentialActions {
  /** The id of the one that is being checked. */
  checking: string | null;
  check: (credential: Credential) => void;
  edit: (credential: Credential) => void;
  replace: (credential: Credential) => void;
  remove: (credential: Credential) => void;
}

const tones: Record<Credential['state']['status'], Tone> = { unchecked: 'neutral', ok: 'good', failing: 'danger' };

const buttons = [
  { label: 'Check', title: 'Check', act: 'check' },
  { label: 'Edit', title: 'Edit', act: 'edit' },
  { label: 'Replace secret', title: 'Replace the secret of', act: 'replace' },
  { label: 'Delete', title: 'Delete', act: 'remove' },
] as const;

/** `actions` is null for who may only read. */
export function credentialColumns(
  actions: CredentialActions | null,
  projectNames: ReadonlyMap<string, string>,
): Column<Credential>[] {
  const columns: Column<Credential>[] = [
    {
      header: 'Name',
      lead: true,
      cell: ({ name, provider, fingerprint }) => (
        <span className="flex flex-col">
          <span className="font-medium wrap-anywhere text-ink">{name}</span>
          <span className="text-sm text-ink-3">
            {provider} · <code title="The first digits of a hash of the secret">{fingerprint}</code>
          </span>
        </span>
      ),
    },
    {
      header: 'State',
      cell: ({ state: { status, reason, since } }) => (
        <span className="flex flex-col items-start gap-1">
          <span title={`Since ${exactTime(since)}`}>
            <Badge tone={tones[status]}>{status}</Badge>
          </span>
          {reason && <span className="text-sm wrap-anywhere text-ink-2">{reason}</span>}
        </span>
      ),
    },
    {
      header: 'Used for',
      cell: ({ project, models }) => (
        <span className="flex flex-col text-ink-2">
          <span>{project === null ? 'Whole account' : (projectNames.get(project) ?? project)}</span>
          <span className="text-sm wrap-anywhere text-ink-3">{models === null ? 'All models' : models.join(', ')}</span>
        </span>
      ),
    },
    { header: 'Use', cell: ({ use }) => <span className="whitespace-nowrap text-ink-2">{textsOfUse[use].label}</span> },
    {
      header: 'Last used',
      cell: ({ last_used_at: at }) => (
        <span className="whitespace-nowrap text-ink-2" title={at ? exactTime(at) : undefined}>
          {at ? fromNow(at) : 'Never'}
        </span>
      ),
    },
  ];
  if (actions === null) return columns;
  return [
    ...columns,
    {
      header: '',
      name: 'Actions',
      end: true,
      cell: (credential) => (
        <span className="flex justify-end max-xl:flex-wrap">
          {buttons.map(({ label, title, act }) => (
            <Button
              busy={act === 'check' && actions.checking === credential.id}
              key={act}
              onClick={() => actions[act](credential)}
              size="small"
              title={`${title} ${credential.name}`}
              variant="ghost"
            >
              {label}
            </Button>
          ))}
        </span>
      ),
    },
  ];
}
