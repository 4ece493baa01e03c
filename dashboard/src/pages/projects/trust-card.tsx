/** Workloads that get API keys of the project for a token of their own, such as a job of GitHub Actions. */
import { useState } from 'react';
import { api } from '../../api/client.js';
import { projectPath } from '../../api/organisation.js';
import type { Project, TrustEntry } from '../../api/organisation-types.js';
import { useChange } from '../../api/queries.js';
import { Button } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { Combobox } from '../../components/combobox.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { Input } from '../../components/field.js';
import { FormDialog } from '../../components/form-dialog.js';
import { type Column, Table } from '../../components/table.js';
import { useToast } from '../../components/toast.js';
import { TokenField } from '../../components/token-field.js';
import { RightButton, useLack } from '../../components/why-not.js';
import { useSession } from '../../layout/session-context.js';

const issuers = [
  { value: 'https://token.actions.githubusercontent.com', hint: 'GitHub Actions' },
  { value: 'https://gitlab.com', hint: 'GitLab.com' },
  { value: 'https://accounts.google.com', hint: 'Google' },
];

export function TrustCard({ project }: { project: Project }) {
  const [adding, setAdding] = useState(false);
  const [doomed, setDoomed] = useState<TrustEntry | null>(null);
  const lack = useLack('projects.manage');
  const say = useToast();
  const remove = useChange(
    (entry: TrustEntry) =>
      api(projectPath(project.id), { method: 'PATCH', body: { trust: project.trust.filter((one) => one !== entry) } }),
    [['projects']],
  );
  const columns: Column<TrustEntry>[] = [
    {
      header: 'Subject',
      lead: true,
      cell: ({ subject }) => <code className="text-sm wrap-anywhere">{subject}</code>,
    },
    {
      header: 'Issuer',
      cell: ({ issuer }) => (
        <span className="wrap-anywhere text-ink-2">
          {issuers.find(({ value }) => value === issuer)?.hint ?? issuer.replace('https://', '')}
        </span>
      ),
    },
    {
      header: 'Also needs',
      cell: ({ claims, audience }) => (
        <span className="text-sm wrap-anywhere text-ink-2">
          {[
            ...(audience === null ? [] : [`audience ${audience}`]),
            ...Object.entries(claims).map(([name, value]) => `${name} = ${value}`),
          ].join(', ') || 'Nothing'}
        </span>
      ),
    },
    ...(lack === null
      ? [
          {
            header: '',
            name: 'Actions',
            end: true,
            cell: (entry: TrustEntry) => (
              <Button onClick={() => setDoomed(entry)} size="small" title={`Remove ${entry.subject}`} variant="ghost">
                Remove
              </Button>
            ),
          },
        ]
      : []),
  ];
  return (
    <Card
      action={
        <RightButton onClick={() => setAdding(true)} right="projects.manage">
          Trust a workload
        </RightButton>
      }
      description="Jobs and services of these subjects get a key of the project for at most an hour. No key has to be stored with them."
      flush
      title="Workloads without a stored key"
    >
      {project.trust.length === 0 ? (
        <p className="px-5 pb-5 text-ink-2">No workload is trusted.</p>
      ) : (
        <Table
          caption="Trusted workloads"
          columns={columns}
          isLow
          rowKey={(entry) => JSON.stringify(entry)}
          rows={project.trust}
        />
      )}
      {adding && <AddTrust onClose={() => setAdding(false)} project={project} />}
      <ConfirmDialog
        action="Remove"
        change={remove}
        onClose={() => setDoomed(null)}
        onDone={() => say('Removed. Keys that were given for it end with the next request.')}
        subject={doomed}
        title="Stop trusting this workload?"
      >
        <code className="text-sm wrap-anywhere text-ink">{doomed?.subject}</code> gets no more keys of this project.
        Keys that it has now end with their next request.
      </ConfirmDialog>
    </Card>
  );
}

function AddTrust({ project, onClose }: { project: Project; onClose: () => void }) {
  const { base_url: base } = useSession();
  const [issuer, setIssuer] = useState(issuers[0]!.value);
  const [subject, setSubject] = useState('');
  const [audience, setAudience] = useState('');
  const [claims, setClaims] = useState<string[]>([]);
  const say = useToast();
  const at = `trust[${project.trust.length}]`;
  const save = useChange(
    () =>
      api(projectPath(project.id), {
        method: 'PATCH',
        body: {
          trust: [
            ...project.trust,
            {
              ...{ issuer: issuer.trim(), subject: subject.trim(), audience: audience.trim() || null },
              claims: Object.fromEntries(claims.map((text) => text.split(/\s*=\s*(.*)/s).slice(0, 2))),
            },
          ],
        },
      }),
    [['projects']],
  );
  return (
    <FormDialog
      action="Trust"
      change={save}
      onClose={onClose}
      onDone={() => say('Saved. The workload can exchange its token now.')}
      open
      params={[`${at}.issuer`, `${at}.subject`, `${at}.audience`]}
      title="Trust a workload"
    >
      {(errorAt) => (
        <>
          <Combobox
            error={errorAt(`${at}.issuer`)}
            hint="The operator of this gateway decides which issuers are allowed."
            label="Issuer"
            onChange={setIssuer}
            suggestions={issuers}
            value={issuer}
          />
          <Input
            autoComplete="off"
            error={errorAt(`${at}.subject`)}
            hint="A star stands for anything between two colons or slashes."
            label="Subject"
            onChange={(event) => setSubject(event.target.value)}
            placeholder="repo:acme/app:ref:refs/heads/main"
            required
            value={subject}
          />
          <Input
            autoComplete="off"
            error={errorAt(`${at}.audience`)}
            label="Audience"
            onChange={(event) => setAudience(event.target.value)}
            placeholder={`${base}/projects/${project.id}`}
            value={audience}
          />
          <TokenField
            hint="Such as repository_owner = acme. Press Enter to add one."
            label="Further claims that it needs"
            onChange={setClaims}
            placeholder="None"
            suggestions={[]}
            values={claims}
          />
        </>
      )}
    </FormDialog>
  );
}
