/** Creates an alias or changes its target. An error appears at its field. */
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, isApiError } from '../../api/client.js';
import { catalogueQuery, useChange } from '../../api/queries.js';
import type { Alias } from '../../api/types.js';
import { Button } from '../../components/button.js';
import { Combobox } from '../../components/combobox.js';
import { Dialog, DialogActions } from '../../components/dialog.js';
import { Input } from '../../components/field.js';
import { messageOf, Notice } from '../../components/states.js';
import { useToast } from '../../components/toast.js';
import { modelSuggestions } from '../models/model-suggestions.js';

export function AliasDialog({ alias, onClose }: { alias: Alias | 'new' | null; onClose: () => void }) {
  const existing = typeof alias === 'object' ? alias : null;
  const [name, setName] = useState(existing?.name ?? '');
  const [target, setTarget] = useState(existing?.model_id ?? '');
  const { data: catalogue } = useQuery({ ...catalogueQuery, enabled: alias !== null });
  const say = useToast();
  const save = useChange(
    () =>
      existing
        ? api(`v1/aliases/${encodeURIComponent(existing.name)}`, { method: 'PUT', body: { target: target.trim() } })
        : api('v1/aliases', { method: 'POST', body: { name: name.trim(), target: target.trim() } }),
    [['aliases'], ['catalogue']],
  );
  const error = save.error;
  const at = (param: string) => (isApiError(error) && error.param === param ? error.message : null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (save.isPending) return;
    save.mutate(undefined, {
      onSuccess: () => {
        say(`alias/${existing?.name ?? name.trim()} points to ${target.trim()}.`);
        onClose();
      },
    });
  };
  return (
    <Dialog
      onClose={onClose}
      open={alias !== null}
      title={existing ? `Repoint alias/${existing.name}` : 'Create alias'}
    >
      <form className="flex flex-col gap-4" noValidate onSubmit={submit}>
        {error && !at('name') && !at('target') && <Notice>{messageOf(error)}</Notice>}
        {!existing && (
          <Input
            autoCapitalize="off"
            autoComplete="off"
            autoFocus
            error={at('name')}
            hint="Lowercase letters, digits, - and _."
            label="Name"
            maxLength={64}
            onChange={(event) => setName(event.target.value)}
            placeholder="fast"
            required
            value={name}
          />
        )}
        <Combobox
          error={at('target')}
          hint="A model such as auto/meta/llama-3.3-70b, or the full id of one route."
          label="Target"
          onChange={setTarget}
          placeholder="auto/meta/llama-3.3-70b"
          required
          suggestions={catalogue ? modelSuggestions(catalogue, { aliases: false }) : []}
          value={target}
        />
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
