/** One project: its budget, limits, API keys, rules, and the workloads that may act for it. */
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { projectPath, projectQuery } from '../../api/organisation.js';
import type { Project } from '../../api/organisation-types.js';
import { useChange } from '../../api/queries.js';
import { Amount } from '../../components/amount.js';
import { buttonClass } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { ChangeForm } from '../../components/change-form.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { CopyButton } from '../../components/copy-button.js';
import { Input } from '../../components/field.js';
import { FormDialog } from '../../components/form-dialog.js';
import { BackIcon } from '../../components/icons.js';
import { BudgetBar } from '../../components/organisation/budget-bar.js';
import { BudgetForm } from '../../components/organisation/budget-form.js';
import { PageData } from '../../components/page-data.js';
import { PageHeader } from '../../components/page-header.js';
import { SkeletonRows } from '../../components/states.js';
import { useToast } from '../../components/toast.js';
import { UsageLink } from '../../components/usage-link.js';
import { RightButton, useLack, useSeesAllKeys, WhyNot } from '../../components/why-not.js';
import { spentDays } from '../../format/budget.js';
import { plural } from '../../format/figures.js';
import { SpendNote } from './spend-note.js';
import { TrustCard } from './trust-card.js';

export function Page() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const project = useQuery(projectQuery(id));
  return (
    <PageData
      query={project}
      skeleton={
        <Card flush>
          <SkeletonRows rows={8} />
        </Card>
      }
    >
      {(data) => <Shown project={data} />}
    </PageData>
  );
}

function Shown({ project }: { project: Project }) {
  const { id, name, is_default: isDefault } = project;
  const [renaming, setRenaming] = useState(false);
  const [doomed, setDoomed] = useState<Project | null>(null);
  const navigate = useNavigate();
  const say = useToast();
  const remove = useChange((one: Project) => api(projectPath(one.id), { method: 'DELETE' }), [['projects']]);
  return (
    <>
      <PageHeader
        actions={
          <>
            <RightButton onClick={() => setRenaming(true)} right="projects.manage">
              Rename
            </RightButton>
            {!isDefault && (
              <RightButton onClick={() => setDoomed(project)} right="projects.manage" variant="ghost">
                Delete
              </RightButton>
            )}
          </>
        }
        back={
          <Link className="text-ink-3 hover:text-ink" to="/projects">
            <BackIcon className="mr-1 inline size-3.5" />
            All projects
          </Link>
        }
        description={
          <span className="inline-flex items-center gap-1">
            <code className="text-sm">{id}</code>
            <CopyButton label="Copy the id of the project" text={id} />
          </span>
        }
        title={name}
      />
      <div className="flex flex-col gap-5">
        <BudgetCard project={project} />
        <div className="grid items-start gap-5 lg:grid-cols-2">
          <LimitsCard project={project} />
          <KeysAndRules project={project} />
        </div>
        <TrustCard project={project} />
      </div>
      {renaming && <Rename onClose={() => setRenaming(false)} project={project} />}
      <ConfirmDialog
        action="Delete project"
        change={remove}
        onClose={() => setDoomed(null)}
        onDone={() => {
          say('Project deleted.');
          void navigate({ to: '/projects' });
        }}
        subject={doomed}
        title="Delete this project?"
      >
        <strong className="font-medium wrap-anywhere text-ink">{name}</strong> is deleted with its budget, limits and
        rules. Its requests stay in the history. A project that still has API keys cannot be deleted.
      </ConfirmDialog>
    </>
  );
}

function BudgetCard({ project }: { project: Project }) {
  const { id, name, budget, spent_usd: spent } = project;
  const say = useToast();
  const lack = useLack('projects.budget');
  return (
    <Card description="When it is used up, requests of the project are refused until the next period." title="Budget">
      <div className="flex flex-col gap-5">
        <div className="flex flex-col gap-2">
          {budget ? (
            <BudgetBar budget={budget} spent={spent} />
          ) : (
            <p className="text-ink-2">
              No budget. <Amount as="total" usd={spent} /> spent this month.
            </p>
          )}
          <SpendNote project={project} />
        </div>
        {lack === null ? (
          <BudgetForm
            budget={budget}
            key={JSON.stringify(budget)}
            of={name}
            onDone={() => say('Budget saved. It holds for the next request.')}
            save={(next) => api(projectPath(id), { method: 'PATCH', body: { budget: next } })}
            stale={[['projects']]}
          />
        ) : (
          <WhyNot reason={lack} />
        )}
      </div>
    </Card>
  );
}

/** What is no number goes to the gateway as it is, which says what is wrong with it. */
const limitOf = (text: string) => {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  return /^\d+$/.test(trimmed) ? Number(trimmed) : trimmed;
};

function LimitsCard({ project }: { project: Project }) {
  const [requests, setRequests] = useState(project.requests_per_minute?.toString() ?? '');
  const [tokens, setTokens] = useState(project.tokens_per_minute?.toString() ?? '');
  const say = useToast();
  const lack = useLack('projects.manage');
  const save = useChange(
    () =>
      api(projectPath(project.id), {
        method: 'PATCH',
        body: { requests_per_minute: limitOf(requests), tokens_per_minute: limitOf(tokens) },
      }),
    [['projects']],
  );
  return (
    <Card description="Shared by all API keys of the project, beside the limits of each." title="Limits per minute">
      <ChangeForm
        action="Save limits"
        button="start"
        change={save}
        disabled={lack !== null}
        onDone={() => say('Limits saved.')}
        params={['requests_per_minute', 'tokens_per_minute']}
      >
        {(at) => (
          <div className="grid gap-4 sm:grid-cols-2">
            <Input
              disabled={lack !== null}
              error={at('requests_per_minute')}
              inputMode="numeric"
              label="Requests"
              onChange={(event) => setRequests(event.target.value)}
              placeholder="As the account"
              value={requests}
            />
            <Input
              disabled={lack !== null}
              error={at('tokens_per_minute')}
              inputMode="numeric"
              label="Tokens"
              onChange={(event) => setTokens(event.target.value)}
              placeholder="As the account"
              value={tokens}
            />
          </div>
        )}
      </ChangeForm>
      {lack !== null && <WhyNot className="mt-2" reason={lack} />}
    </Card>
  );
}

function KeysAndRules({ project }: { project: Project }) {
  const { id, keys } = project;
  const seesKeys = useLack('keys.read') === null;
  const seesRules = useLack('settings.read') === null;
  const seesAll = useSeesAllKeys();
  return (
    <Card title="API keys and rules">
      <p className="text-ink-2">
        {plural(keys, 'API key')}. The rules of a project can only be stricter than the account’s.
      </p>
      <div className="mt-3 flex flex-wrap gap-2">
        {seesKeys && (
          <Link className={buttonClass()} search={{ project: id } as never} to="/keys">
            {seesAll ? 'API keys' : 'Your API keys'}
          </Link>
        )}
        {seesRules && (
          <Link className={buttonClass()} params={{ id }} to="/projects/$id/policy">
            Routing policy
          </Link>
        )}
        <UsageLink className={buttonClass('ghost')} search={{ project: id, ...spentDays(project, Date.now()) }}>
          Usage
        </UsageLink>
      </div>
    </Card>
  );
}

function Rename({ project, onClose }: { project: Project; onClose: () => void }) {
  const [name, setName] = useState(project.name);
  const say = useToast();
  const save = useChange(
    () => api(projectPath(project.id), { method: 'PATCH', body: { name: name.trim() } }),
    [['projects']],
  );
  return (
    <FormDialog
      action="Rename"
      change={save}
      description="The history keeps its requests under the new name."
      onClose={onClose}
      onDone={() => say('Project renamed.')}
      open
      params={['name']}
      title="Rename project"
    >
      {(at) => (
        <Input
          autoComplete="off"
          error={at('name')}
          label="Name"
          maxLength={100}
          onChange={(event) => setName(event.target.value)}
          required
          value={name}
        />
      )}
    </FormDialog>
  );
}
