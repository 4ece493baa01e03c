/** The filters of the Usage page. They are in the URL, so that you can share a filtered view. */
import { useQuery } from '@tanstack/react-query';
import { facetsQuery } from '../../api/queries.js';
import { Select } from '../../components/field.js';

export interface UsageFilters {
  key?: string;
  model?: string;
  provider?: string;
  status?: string;
  period?: string;
}

const periods: { value: string; label: string; hours: number | null }[] = [
  { value: '', label: 'All time', hours: null },
  { value: '1h', label: 'Last hour', hours: 1 },
  { value: '24h', label: 'Last 24 hours', hours: 24 },
  { value: '7d', label: 'Last 7 days', hours: 24 * 7 },
  { value: '30d', label: 'Last 30 days', hours: 24 * 30 },
];

const statuses = [
  { value: '', label: 'Any' },
  { value: 'ok', label: 'Succeeded' },
  { value: 'error', label: 'Failed' },
];

/** Rounded to the minute, so that the same filter stays the same query for a while. */
export function periodStart(period: string | undefined): string | undefined {
  const hours = periods.find(({ value }) => value === period)?.hours;
  if (!hours) return undefined;
  return new Date(Math.floor(Date.now() / 60_000) * 60_000 - hours * 3_600_000).toISOString();
}

export const isFiltered = (filters: UsageFilters) => Object.values(filters).some(Boolean);

export function UsageFilterBar({
  filters,
  onChange,
}: {
  filters: UsageFilters;
  onChange: (change: UsageFilters) => void;
}) {
  const { data: facets } = useQuery(facetsQuery);
  const options = (values: readonly string[] | undefined, chosen: string | undefined) => [
    { value: '', label: 'Any' },
    ...[...new Set([...(values ?? []), ...(chosen ? [chosen] : [])])].map((value) => ({ value, label: value })),
  ];
  const select = (name: keyof UsageFilters, label: string, choices: { value: string; label: string }[]) => (
    <Select
      label={label}
      onChange={(event) => onChange({ [name]: event.target.value || undefined })}
      options={choices}
      value={filters[name] ?? ''}
    />
  );
  return (
    <search aria-label="Filters" className="mb-4 grid grid-cols-2 gap-3 md:grid-cols-5">
      {select('period', 'Period', periods)}
      {select('key', 'Key', options(facets?.keys, filters.key))}
      {select('model', 'Model', options(facets?.models, filters.model))}
      {select('provider', 'Provider', options(facets?.providers, filters.provider))}
      {select('status', 'Status', statuses)}
    </search>
  );
}
