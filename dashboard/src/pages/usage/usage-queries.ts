/** The choices in the address of the Usage page, and what the page reads for them. */
import { reportQuery, requestPages } from '../../api/report.js';
import type { ReportGroup } from '../../api/report-types.js';
import { type PeriodSearch, periodOf } from '../../components/period/period.js';

export interface UsageFilters {
  project?: string;
  key?: string;
  model?: string;
  /** As the groups name it: what served, or was asked for where nobody served. */
  for_model?: string;
  provider?: string;
  locode?: string;
  status?: string;
  /** `no` for what nobody served. */
  served?: string;
}

export interface UsageSearchState extends UsageFilters, PeriodSearch {
  group?: string;
  sort?: string;
  live?: string;
}

const filterNames: readonly (keyof UsageFilters)[] = [
  'project',
  'key',
  'model',
  'for_model',
  'provider',
  'locode',
  'status',
  'served',
];

/** The address may have numbers, for example a status. */
export function filtersOf(search: UsageSearchState): UsageFilters {
  const set = filterNames.filter((name) => search[name] !== undefined && search[name] !== '');
  return Object.fromEntries(set.map((name) => [name, String(search[name])]));
}

export const usagePeriod = (search: PeriodSearch) => periodOf(search);

export const usageGroups: readonly ReportGroup[] = ['project', 'key', 'model', 'provider', 'locode', 'status'];

export const usageGroup = ({ group }: UsageSearchState) => usageGroups.find((candidate) => candidate === group);

/** The parameters that the report, the list and the export have in common. */
export function usageParameters(search: UsageSearchState) {
  const { from, to } = usagePeriod(search);
  return { ...filtersOf(search), from, to };
}

export const usageReport = (search: UsageSearchState) =>
  reportQuery({ ...usageParameters(search), by: usageGroup(search) });

export const usageRequests = (search: UsageSearchState) =>
  requestPages({ ...usageParameters(search), sort: search.sort });
