/** The filters of the Usage page. They are in the URL, so that you can share a filtered view. */
import { useQuery } from '@tanstack/react-query';
import { catalogueQuery, facetsQuery, keysQuery } from '../../api/queries.js';
import { Select } from '../../components/field.js';
import { ProjectFilter } from '../../components/organisation/project-filter.js';
import { placeWithLocode } from '../../format/place.js';
import type { UsageFilters, UsageSearchState } from './usage-queries.js';

const statuses = [
  { value: '', label: 'Any' },
  { value: 'ok', label: 'Succeeded' },
  { value: 'error', label: 'Failed' },
];

const notServed = 'not served';
/** Before a model that a link from a group of requests has chosen. */
const groupMark = '=';

interface UsageFilterBarProps {
  filters: UsageFilters;
  onChange: (change: UsageSearchState) => void;
  /** What there is to choose from is read once the page has its figures, which would wait for it. */
  isReady: boolean;
}

export function UsageFilterBar({ filters, onChange, isReady }: UsageFilterBarProps) {
  const { data: facets } = useQuery({ ...facetsQuery, enabled: isReady });
  const { data: keys } = useQuery({ ...keysQuery, enabled: isReady });
  const { data: catalogue } = useQuery({ ...catalogueQuery, enabled: isReady });
  const regions = catalogue?.regions.map(({ locode }) => locode) ?? [];
  const cities = new Map(catalogue?.regions.map(({ locode, city }) => [locode, city]));
  const keyNames = [...(keys ?? []).map(({ name }) => name), ...(facets?.keys ?? [])];
  const set = (change: Record<string, string | undefined>) => onChange(change as UsageSearchState);
  const select = (
    name: keyof UsageFilters,
    label: string,
    values: readonly string[],
    text = (value: string) => value,
  ) => (
    <Select
      label={label}
      onChange={(event) => set({ [name]: event.target.value || undefined })}
      options={optionsOf(values, filters[name], text)}
      value={filters[name] ?? ''}
    />
  );
  const provider = filters.served === 'no' ? notServed : (filters.provider ?? '');
  return (
    <search
      aria-label="Filters"
      className="mb-5 grid grid-cols-2 gap-3 md:auto-cols-fr md:grid-flow-col md:grid-cols-none"
    >
      <ProjectFilter none="Any" onChange={(project) => set({ project })} value={filters.project ?? ''} />
      {select('key', 'Key', keyNames)}
      <Select
        label="Model"
        onChange={({ target: { value } }) =>
          set(value.startsWith(groupMark) ? {} : { model: value || undefined, for_model: undefined })
        }
        options={[
          ...optionsOf(facets?.models ?? [], filters.model),
          ...(filters.for_model ? [{ value: groupMark + filters.for_model, label: filters.for_model }] : []),
        ]}
        value={filters.for_model ? groupMark + filters.for_model : (filters.model ?? '')}
      />
      <Select
        label="Provider"
        onChange={({ target: { value } }) =>
          set(
            value === notServed
              ? { served: 'no', provider: undefined }
              : { served: undefined, provider: value || undefined },
          )
        }
        options={[...optionsOf(facets?.providers ?? [], filters.provider), { value: notServed, label: 'Not served' }]}
        value={provider}
      />
      {select('locode', 'Region', regions, (locode) => placeWithLocode(cities.get(locode), locode))}
      <Select
        label="Status"
        onChange={(event) => set({ status: event.target.value || undefined })}
        options={[
          ...statuses,
          ...(statuses.some(({ value }) => value === (filters.status ?? ''))
            ? []
            : [{ value: filters.status ?? '', label: filters.status ?? '' }]),
        ]}
        value={filters.status ?? ''}
      />
    </search>
  );
}

function optionsOf(values: readonly string[], chosen: string | undefined, text = (value: string) => value) {
  const all = [...new Set([...values, ...(chosen ? [chosen] : [])])].sort();
  return [{ value: '', label: 'Any' }, ...all.map((value) => ({ value, label: text(value) }))];
}
