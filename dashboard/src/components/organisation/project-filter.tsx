/** Chooses a project to filter a list by. It is not there where the account has only one. */
import { useQuery } from '@tanstack/react-query';
import { projectNamesQuery } from '../../api/organisation.js';
import { Select } from '../field.js';

export interface ProjectFilterProps {
  value: string;
  onChange: (id: string | undefined) => void;
  className?: string;
  /** What no choice is called. */
  none?: string;
}

export function ProjectFilter({ value, onChange, className, none = 'All projects' }: ProjectFilterProps) {
  const { data: projects = [] } = useQuery(projectNamesQuery);
  if (projects.length < 2 && value === '') return null;
  const known = projects.map(({ id, name }) => ({ value: id, label: name }));
  const missing = value !== '' && !known.some((one) => one.value === value) ? [{ value, label: value }] : [];
  return (
    <Select
      label="Project"
      onChange={(event) => onChange(event.target.value || undefined)}
      options={[{ value: '', label: none }, ...known, ...missing]}
      value={value}
      {...(className !== undefined && { className })}
    />
  );
}

/** The names of the projects, by id. */
export function useProjectNames(): ReadonlyMap<string, string> {
  const { data: projects = [] } = useQuery(projectNamesQuery);
  return new Map(projects.map(({ id, name }) => [id, name]));
}
