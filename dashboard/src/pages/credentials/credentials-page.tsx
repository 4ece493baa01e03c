/** The Credentials page: the account's own credentials at providers, with their state; add, check, change, replace and delete them. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { type CheckedCredential, type Credential, credentialPath, credentialsQuery } from '../../api/credentials.js';
import { useChange } from '../../api/queries.js';
import { Card } from '../../components/card.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { CredentialIcon, PlusIcon } from '../../components/icons.js';
import { useProjectNames } from '../../components/organisation/project-filter.js';
import { PageData } from '../../components/page-data.js';
import { PageHeader } from '../../components/page-header.js';
import { EmptyState, messageOf, Notice } from '../../components/states.js';
import { Table } from '../../components/table.js';
import { useToast } from '../../components/toast.js';
import { RightButton, useLack } from '../../components/why-not.js';
import { AddCredentialDialog } from './add-credential-dialog.js';
import { credentialColumns } from './credential-columns.js';
import { EditCredentialDialog } from './edit-credential-dialog.js';
import { ReplaceSecretDialog } from './replace-secret-dialog.js';

export function Page() {
  const credentials = useQuery(credentialsQuery);
  const projectNames = useProjectNames();
  const [adding, setAdding] = useState(false);
  const [edited, setEdited] = useState<Credential | null>(null);
  const [replaced, setReplaced] = useState<Credential | null>(null);
  const [doomed, setDoomed] = useState<Credential | null>(null);
  const mayNot = useLack('credentials.change') !== null;
  const say = useToast();
  const check = useChange(
    ({ id }: Credential) => api<CheckedCredential>(`${credentialPath(id)}/check`, { method: 'POST' }),
    [['credentials']],
  );
  const remove = useChange(
    ({ id }: Credential) => api(credentialPath(id), { method: 'DELETE' }),
    [['credentials'], ['catalogue']],
  );
  const actions = {
    checking: check.isPending ? (check.variables?.id ?? null) : null,
    check: (credential: Credential) =>
      check.mutate(credential, { onSuccess: (answer) => works(answer) && say(`${answer.name} works.`) }),
    edit: setEdited,
    replace: setReplaced,
    remove: setDoomed,
  };
  const fault = check.error ? messageOf(check.error) : check.data && faultOf(check.data);
  return (
    <>
      <PageHeader
        actions={
          <RightButton icon={PlusIcon} onClick={() => setAdding(true)} right="credentials.change" variant="primary">
            Add credential
          </RightButton>
        }
        description="Your own keys at providers. Requests that they serve are paid to the provider by you; here they cost the fee of this service, if any."
        title="Credentials"
      />
      {fault && (
        <div className="mb-4">
          <Notice>{fault}</Notice>
        </div>
      )}
      <Card flush title="Your credentials">
        <PageData query={credentials}>
          {(list) =>
            list.length === 0 ? (
              <EmptyState icon={CredentialIcon} title="No credentials yet">
                Add a key that you have at a provider. It is stored encrypted, never shown again, and used for you
                alone.
              </EmptyState>
            ) : (
              <Table
                caption="Credentials"
                columns={credentialColumns(mayNot ? null : actions, projectNames)}
                rowKey={({ id }) => id}
                rows={list}
              />
            )
          }
        </PageData>
      </Card>
      {adding && <AddCredentialDialog onClose={() => setAdding(false)} />}
      {edited && <EditCredentialDialog credential={edited} onClose={() => setEdited(null)} />}
      {replaced && <ReplaceSecretDialog credential={replaced} onClose={() => setReplaced(null)} />}
      <ConfirmDialog
        action="Delete credential"
        change={remove}
        onClose={() => setDoomed(null)}
        onDone={() => say('Credential deleted.')}
        subject={doomed}
        title="Delete this credential?"
      >
        <strong className="font-medium wrap-anywhere text-ink">{doomed?.name}</strong> is not used from the next request
        on. Requests for {doomed?.provider} then use the next credential that there is. This cannot be undone.
      </ConfirmDialog>
    </>
  );
}

const works = ({ check: { verdict } }: CheckedCredential): boolean => verdict === 'ok';

/** What the provider said, and what to do; null where the credential works. */
function faultOf(answer: CheckedCredential): string | null {
  const { said, advice } = answer.check;
  return works(answer) ? null : [`${answer.name} did not work.`, said, advice].filter(Boolean).join(' ');
}
