/** Creates an API key, then shows it once with a copy button. A click outside does not close the dialog. */
import { type FormEvent, useState } from 'react';
import { api } from '../../api/client.js';
import { useChange } from '../../api/queries.js';
import type { Key, NewKey } from '../../api/types.js';
import { Button } from '../../components/button.js';
import { CodeBlock } from '../../components/code-block.js';
import { CopyButton } from '../../components/copy-button.js';
import { Dialog, DialogActions } from '../../components/dialog.js';
import { Input, Select } from '../../components/field.js';
import { messageOf, Notice } from '../../components/states.js';
import { Tabs } from '../../components/tabs.js';
import { useLack } from '../../components/why-not.js';
import { keySnippets } from '../../format/key-snippets.js';
import { useSession } from '../../layout/session-context.js';
import { type Place, PlaceFields, placeBody } from './place-fields.js';
import { errorAt, openTerms, TermsFields, termParams, termsBody, termsOf } from './terms-fields.js';

const expiries = [
  { value: '7d', label: '7 days' },
  { value: '30d', label: '30 days' },
  { value: '90d', label: '90 days' },
  { value: '6mo', label: '6 months' },
  { value: '12mo', label: '12 months' },
  { value: 'never', label: 'Never' },
];

const kinds = [
  { value: 'inference', label: 'Calls models' },
  { value: 'management', label: 'Manages the account' },
];

export interface CreateKeyDialogProps {
  onClose: () => void;
  /** The key that the new one takes the place of: it gets the same name, project, holder and limits. */
  instead?: Key | null;
  /** The project that is chosen first. */
  project?: string | null;
}

export function CreateKeyDialog({ onClose, instead = null, project = null }: CreateKeyDialogProps) {
  const [made, setMade] = useState<NewKey | null>(null);
  const close = () => {
    setMade(null);
    onClose();
  };
  return (
    <Dialog
      closeOutside={made === null}
      description={
        made
          ? 'Copy the API key now. It cannot be shown again.'
          : instead
            ? 'The old key goes on working until you delete it, so that you can change programs one by one.'
            : undefined
      }
      keep={made ? 'The API key cannot be shown again. Close without it?' : undefined}
      onClose={close}
      open
      title={made ? 'Your new key' : instead ? `Replace ${instead.name}` : 'Create key'}
      wide={made !== null}
    >
      {made ? (
        <Token made={made} onClose={close} />
      ) : (
        <KeyForm instead={instead} onClose={close} onMade={setMade} project={project} />
      )}
    </Dialog>
  );
}

interface KeyFormProps {
  onMade: (key: NewKey) => void;
  onClose: () => void;
  instead: Key | null;
  project: string | null;
}

function KeyForm({ onMade, onClose, instead, project: first }: KeyFormProps) {
  const [name, setName] = useState(instead?.name ?? '');
  const [place, setPlace] = useState<Place>({ project: instead?.project ?? first, holder: instead?.holder ?? null });
  const [expires, setExpires] = useState('90d');
  const [kind, setKind] = useState<string>(instead?.kind ?? 'inference');
  const [terms, setTerms] = useState(instead ? termsOf(instead) : openTerms);
  const mayGive = useLack('keys.manage') === null;
  const create = useChange(
    () =>
      api<NewKey>('keys', {
        method: 'POST',
        body: { name: name.trim(), expires, kind, ...placeBody(place, mayGive), ...termsBody(terms) },
      }),
    [['keys'], ['projects']],
  );
  const { error } = create;
  const at = (param: string) => errorAt(error, param);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!create.isPending) create.mutate(undefined, { onSuccess: onMade });
  };
  return (
    <form className="flex flex-col gap-4" noValidate onSubmit={submit}>
      {error && !['name', 'project', 'holder', ...termParams].some(at) && <Notice>{messageOf(error)}</Notice>}
      <Input
        autoComplete="off"
        autoFocus
        error={at('name')}
        hint="Shown in your usage history."
        label="Name"
        maxLength={100}
        onChange={(event) => setName(event.target.value)}
        placeholder="production"
        required
        value={name}
      />
      <PlaceFields at={at} mayGive={mayGive} onChange={setPlace} place={place} />
      <Select label="Expiry" onChange={(event) => setExpires(event.target.value)} options={expiries} value={expires} />
      {mayGive && (
        <Select
          hint={
            kind === 'management'
              ? 'Manages the account by the API, as an admin does. It can call no model.'
              : undefined
          }
          label="Kind"
          onChange={(event) => setKind(event.target.value)}
          options={kinds}
          value={kind}
        />
      )}
      <details className="flex flex-col gap-4">
        <summary className="cursor-pointer text-sm font-medium text-ink-2 hover:text-ink">Limits and scope</summary>
        <TermsFields at={at} className="mt-4" onChange={setTerms} terms={terms} />
      </details>
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button busy={create.isPending} type="submit" variant="primary">
          Create
        </Button>
      </DialogActions>
    </form>
  );
}

function Token({ made: { token, kind }, onClose }: { made: NewKey; onClose: () => void }) {
  const { base_url: baseUrl } = useSession();
  const tabs = keySnippets(baseUrl, token, kind).map(({ value, label, code }) => ({
    ...{ value, label },
    content: <CodeBlock code={code} label={value === 'curl' ? 'curl command' : `${label} code`} />,
  }));
  return (
    <>
      <div className="flex flex-wrap items-center gap-2 rounded-md border border-accent/40 bg-accent-soft p-2 pl-3">
        <code className="min-w-0 grow text-sm wrap-anywhere text-ink" data-testid="new-token">
          {token}
        </code>
        <CopyButton label="Copy API key" text={token}>
          Copy
        </CopyButton>
      </div>
      <div className="flex min-w-0 flex-col gap-1.5">
        <p className="text-sm font-medium">Send your first request</p>
        <Tabs label="Language" tabs={tabs} />
      </div>
      <DialogActions>
        <Button onClick={onClose} variant="primary">
          Done
        </Button>
      </DialogActions>
    </>
  );
}
