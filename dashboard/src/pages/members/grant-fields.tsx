/** The role of a person and, for a developer, their projects. */
import { useQuery } from '@tanstack/react-query';
import { projectNamesQuery } from '../../api/organisation.js';
import type { Role } from '../../api/types.js';
import type { ErrorAt } from '../../components/change-form.js';
import { Select } from '../../components/field.js';
import { Switch } from '../../components/switch.js';
import { TokenField } from '../../components/token-field.js';
import { useLack } from '../../components/why-not.js';

export interface Grant {
  role: Role;
  /** null for all. */
  projects: string[] | null;
}

const roles: { value: Role; label: string }[] = [
  { value: 'owner', label: 'Owner: everything, also other owners' },
  { value: 'admin', label: 'Admin: projects, API keys, policy, members' },
  { value: 'billing', label: 'Billing: credit, budgets, usage' },
  { value: 'developer', label: 'Developer: own API keys and usage of their projects' },
  { value: 'auditor', label: 'Auditor: reads everything, changes nothing' },
];

export const grantBody = ({ role, projects }: Grant) => ({ role, projects: role === 'developer' ? projects : null });

export function GrantFields({ grant, onChange, at }: { grant: Grant; onChange: (grant: Grant) => void; at: ErrorAt }) {
  const { data: projects = [] } = useQuery(projectNamesQuery);
  const onlyBelow = useLack('members.manage') !== null;
  const names = new Map(projects.map(({ id, name }) => [id, name]));
  const ids = new Map(projects.map(({ id, name }) => [name, id]));
  const offered = roles.filter(({ value }) => !onlyBelow || (value !== 'owner' && value !== 'admin'));
  return (
    <>
      <Select
        error={at('role')}
        hint={onlyBelow ? 'Only an owner can make somebody an owner or an admin.' : undefined}
        label="Role"
        onChange={(event) => onChange({ ...grant, role: event.target.value as Role })}
        options={offered}
        value={grant.role}
      />
      {grant.role === 'developer' && projects.length > 1 && (
        <>
          <Switch
            checked={grant.projects === null}
            hint="Also projects that are created later."
            label="All projects"
            onChange={(all) => onChange({ ...grant, projects: all ? null : [] })}
          />
          {grant.projects !== null && (
            <TokenField
              error={at('projects')}
              label="Projects"
              onChange={(chosen) => onChange({ ...grant, projects: chosen })}
              placeholder="Add a project"
              read={(name) => ids.get(name) ?? name}
              show={(id) => names.get(id) ?? id}
              suggestions={projects.map(({ name }) => ({ value: name }))}
              values={grant.projects}
            />
          )}
        </>
      )}
    </>
  );
}
