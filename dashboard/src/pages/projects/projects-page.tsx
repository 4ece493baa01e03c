/** The projects of the account: each with its budget, its API keys and what it spends. */
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { projectsQuery } from '../../api/organisation.js';
import type { Project } from '../../api/organisation-types.js';
import { useChange } from '../../api/queries.js';
import { Amount } from '../../components/amount.js';
import { Badge } from '../../components/badge.js';
import { Card } from '../../components/card.js';
import { Input } from '../../components/field.js';
import { FormDialog } from '../../components/form-dialog.js';
import { PlusIcon, ProjectsIcon } from '../../components/icons.js';
import { BudgetBar } from '../../components/organisation/budget-bar.js';
import { PageData } from '../../components/page-data.js';
import { PageHeader } from '../../components/page-header.js';
import { EmptyState } from '../../components/states.js';
import { type Column, Table } from '../../components/table.js';
import { useToast } from '../../components/toast.js';
import { UsageLink } from '../../components/usage-link.js';
import { RightButton, useSeesAllKeys } from '../../components/why-not.js';
import { spentDays } from '../../format/budget.js';
import { count, plural } from '../../format/figures.js';

export function Page() {
  const projects = useQuery(projectsQuery);
  const { find = '' } = useSearch({ strict: false }) as { find?: string };
  const navigate = useNavigate();
  const seesAllKeys = useSeesAllKeys();
  const [creating, setCreating] = useState(false);
  const wanted = String(find).trim().toLowerCase();
  const found = (list: Project[]) => list.filter(({ name }) => name.toLowerCase().includes(wanted));
  return (
    <>
      <PageHeader
        actions={
          <RightButton icon={PlusIcon} onClick={() => setCreating(true)} right="projects.manage" variant="primary">
            Create project
          </RightButton>
        }
        description="A project is a team or a program with its own API keys, budget, limits and stricter rules."
        title="Projects"
      />
      <div className="mb-4 flex flex-wrap items-end justify-between gap-3">
        <search className="w-full max-w-sm">
          <Input
            label="Search"
            onChange={(event) =>
              void navigate({ to: '/projects', search: { find: event.target.value || undefined }, replace: true })
            }
            placeholder="Name"
            type="search"
            value={String(find)}
          />
        </search>
        {projects.data && (
          <p className="text-sm text-ink-3" role="status">
            {plural(found(projects.data).length, 'project')}
          </p>
        )}
      </div>
      <Card flush>
        <PageData query={projects}>
          {(list) =>
            found(list).length === 0 ? (
              <EmptyState icon={ProjectsIcon} title={wanted ? 'No project matches' : 'No project yet'} />
            ) : (
              <Table caption="Projects" columns={columns(seesAllKeys)} rowKey={({ id }) => id} rows={found(list)} />
            )
          }
        </PageData>
      </Card>
      {creating && <CreateProject onClose={() => setCreating(false)} />}
    </>
  );
}

const columns = (seesAllKeys: boolean): Column<Project>[] => [
  {
    header: 'Name',
    lead: true,
    cell: ({ id, name, is_default: isDefault }) => (
      <span className="flex flex-wrap items-center gap-2 md:max-w-80 xl:max-w-none">
        <Link
          className="font-medium wrap-anywhere text-ink underline decoration-field/60 underline-offset-4 hover:decoration-ink"
          params={{ id }}
          to="/projects/$id"
        >
          {name}
        </Link>
        {isDefault && <Badge>default</Badge>}
      </span>
    ),
  },
  {
    header: 'Budget',
    cell: ({ budget, spent_usd: spent }) =>
      budget ? <BudgetBar budget={budget} short spent={spent} /> : <span className="text-ink-3">No budget</span>,
  },
  {
    header: 'API keys',
    end: true,
    cell: ({ id, keys }) =>
      seesAllKeys ? (
        <Link
          className="tabular underline decoration-transparent underline-offset-4 hover:decoration-current"
          search={{ project: id } as never}
          to="/keys"
        >
          {count(keys)}
        </Link>
      ) : (
        count(keys)
      ),
  },
  {
    header: 'Spend',
    end: true,
    cell: (project) => (
      <span className="flex flex-col items-end">
        <UsageLink search={{ project: project.id, ...spentDays(project, Date.now()) }}>
          <Amount as="total" inside usd={project.spent_usd} />
        </UsageLink>
        {!project.budget && <span className="text-xs whitespace-nowrap text-ink-3">this month</span>}
      </span>
    ),
  },
];

function CreateProject({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const navigate = useNavigate();
  const say = useToast();
  const create = useChange(
    () => api<Project>('projects', { method: 'POST', body: { name: name.trim() } }),
    [['projects']],
  );
  return (
    <FormDialog
      action="Create project"
      change={create}
      description="Its budget, limits and rules come next."
      onClose={onClose}
      onDone={({ id, name: made }) => {
        say(`Project ${made} created.`);
        void navigate({ to: '/projects/$id', params: { id } });
      }}
      open
      params={['name']}
      title="Create project"
    >
      {(at) => (
        <Input
          autoComplete="off"
          autoFocus
          error={at('name')}
          label="Name"
          maxLength={100}
          onChange={(event) => setName(event.target.value)}
          placeholder="search"
          required
          value={name}
        />
      )}
    </FormDialog>
  );
}
