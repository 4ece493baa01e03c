/** Changes the name of a credential, what is used beside it, and the models that it covers. */
import { useState } from 'react';
import { api } from '../../api/client.js';
import { type Credential, credentialPath } from '../../api/credentials.js';
import { useChange } from '../../api/queries.js';
import { FormDialog } from '../../components/form-dialog.js';
import { useToast } from '../../components/toast.js';
import { bodyOf, formParams, NameField, UseAndModels, type UseFields } from './credential-form.js';

export function EditCredentialDialog({ credential, onClose }: { credential: Credential; onClose: () => void }) {
  const { id, name, use, models } = credential;
  const [fields, setFields] = useState<UseFields>({ name, use, models: models?.join('\n') ?? '' });
  const say = useToast();
  const save = useChange(
    () => api<Credential>(credentialPath(id), { method: 'PATCH', body: bodyOf(fields) }),
    [['credentials'], ['catalogue']],
  );
  return (
    <FormDialog
      action="Save"
      change={save}
      onClose={onClose}
      onDone={() => say('Credential saved.')}
      open
      params={formParams}
      title={`Edit ${name}`}
    >
      {(at) => (
        <>
          <NameField {...{ at, fields }} onChange={setFields} />
          <UseAndModels {...{ at, fields }} onChange={setFields} />
        </>
      )}
    </FormDialog>
  );
}
