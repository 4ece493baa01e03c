/** Adds a credential at a provider. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.js';
import type { Credential } from '../../api/credentials.js';
import { projectNamesQuery } from '../../api/organisation.js';
import { catalogueQuery, useChange } from '../../api/queries.js';
import { Select } from '../../components/field.js';
import { FormDialog } from '../../components/form-dialog.js';
import { useToast } from '../../components/toast.js';
import { bodyOf, formParams, NameField, UseAndModels, type UseFields } from './credential-form.js';
import { SecretFields, secretBody, secretParams, type Typed } from './secret-fields.js';

export function AddCredentialDialog({ onClose }: { onClose: () => void }) {
  const { data: catalogue } = useQuery(catalogueQuery);
  const { data: projects = [] } = useQuery(projectNamesQuery);
  const providers = (catalogue?.providers ?? []).flatMap(({ id, name, secret }) =>
    secret ? [{ id, name, secret }] : [],
  );
  const [chosen, setChosen] = useState('');
  const [project, setProject] = useState('');
  const [fields, setFields] = useState<UseFields>({ name: '', use: 'only', models: '' });
  const [typed, setTyped] = useState<Typed>({});
  const provider = providers.find(({ id }) => id === chosen) ?? providers[0];
  const kind = provider?.secret ?? 'api_key';
  const say = useToast();
  const create = useChange(
    () =>
      api<Credential>('credentials', {
        method: 'POST',
        body: {
          ...{ provider: provider?.id, project: project || null, secret: secretBody(kind, typed) },
          ...bodyOf(fields),
        },
      }),
    [['credentials'], ['catalogue']],
  );
  return (
    <FormDialog
      action="Add credential"
      change={create}
      onClose={onClose}
      onDone={() => say('Credential added. It is used from the next request on.')}
      open
      params={[...formParams, ...secretParams(kind), 'project']}
      title="Add credential"
    >
      {(at) => (
        <>
          <NameField {...{ at, fields }} onChange={setFields} />
          <Select
            error={at('provider')}
            label="Provider"
            onChange={(event) => setChosen(event.target.value)}
            options={providers.map(({ id, name }) => ({ value: id, label: name }))}
            value={provider?.id ?? ''}
          />
          <SecretFields at={at} key={kind} kind={kind} onChange={setTyped} typed={typed} />
          {projects.length > 1 && (
            <Select
              error={at('project')}
              hint="It cannot be changed later."
              label="Used for"
              onChange={(event) => setProject(event.target.value)}
              options={[
                { value: '', label: 'Whole account' },
                ...projects.map(({ id, name }) => ({ value: id, label: name })),
              ]}
              value={project}
            />
          )}
          <UseAndModels {...{ at, fields }} onChange={setFields} />
        </>
      )}
    </FormDialog>
  );
}
