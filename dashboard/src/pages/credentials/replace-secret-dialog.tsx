/** Replaces the secret of a credential as a whole. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { type Credential, credentialPath } from '../../api/credentials.js';
import { catalogueQuery, useChange } from '../../api/queries.js';
import { FormDialog } from '../../components/form-dialog.js';
import { useToast } from '../../components/toast.js';
import { SecretFields, secretBody, secretParams, type Typed } from './secret-fields.js';

export function ReplaceSecretDialog({ credential, onClose }: { credential: Credential; onClose: () => void }) {
  const { id, name, provider } = credential;
  const { data: catalogue } = useQuery(catalogueQuery);
  const kind = catalogue?.providers.find((each) => each.id === provider)?.secret ?? 'api_key';
  const [typed, setTyped] = useState<Typed>({});
  const say = useToast();
  const save = useChange(
    () => api<Credential>(credentialPath(id), { method: 'PATCH', body: { secret: secretBody(kind, typed) } }),
    [['credentials']],
  );
  return (
    <FormDialog
      action="Replace secret"
      change={save}
      description={`${name} at ${provider}. The old secret is not used from the next request on.`}
      onClose={onClose}
      onDone={() => say('Secret replaced. Check it, or send a request.')}
      open
      params={secretParams(kind)}
      title="Replace secret"
    >
      {(at) => <SecretFields at={at} kind={kind} onChange={setTyped} typed={typed} />}
    </FormDialog>
  );
}
