/** Edits the name, the limits and the scope of an API key. */
import { type FormEvent, useState } from 'react';
import { api } from '../../api/client.js';
import { useChange } from '../../api/queries.js';
import type { Key } from '../../api/types.js';
import { Button } from '../../components/button.js';
import { Dialog, DialogActions } from '../../components/dialog.js';
import { Input } from '../../components/field.js';
import { messageOf, Notice } from '../../components/states.js';
import { useToast } from '../../components/toast.js';
import { errorAt, TermsFields, termParams, termsBody, termsOf } from './terms-fields.js';

export function EditKeyDialog({ of: key, onClose }: { of: Key; onClose: () => void }) {
  const [name, setName] = useState(key.name);
  const [terms, setTerms] = useState(() => termsOf(key));
  const save = useChange(
    () =>
      api<Key>(`keys/${encodeURIComponent(key.id)}`, {
        method: 'PATCH',
        body: { name: name.trim(), ...termsBody(terms) },
      }),
    [['keys']],
  );
  const say = useToast();
  const at = (param: string) => errorAt(save.error, param);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (save.isPending) return;
    save.mutate(undefined, {
      onSuccess: () => {
        onClose();
        say('API key saved. The change holds from the next request on.');
      },
    });
  };
  return (
    <Dialog closeOutside={false} description={key.label} onClose={onClose} open title="Edit API key">
      <form className="flex flex-col gap-4" noValidate onSubmit={submit}>
        {save.error && !['name', ...termParams].some(at) && <Notice>{messageOf(save.error)}</Notice>}
        <Input
          autoComplete="off"
          error={at('name')}
          label="Name"
          maxLength={100}
          onChange={(event) => setName(event.target.value)}
          required
          value={name}
        />
        <TermsFields at={at} onChange={setTerms} terms={terms} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button busy={save.isPending} type="submit" variant="primary">
            Save
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
