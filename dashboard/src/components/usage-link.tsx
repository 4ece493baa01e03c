/** A figure that leads to the requests behind it on the Usage page. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ReportGroup } from '../api/report-types.js';
import { classNames } from './class-names.js';

export type UsageSearch = Record<string, string | undefined>;

/** The filter for one member of a group; null is what nobody served. */
export function memberSearch(group: ReportGroup, id: string | null): UsageSearch {
  if (id === null) return { served: 'no' };
  return group === 'model' ? { for_model: id } : { [group]: id };
}

export interface UsageLinkProps {
  search: UsageSearch;
  className?: string;
  title?: string;
  children: ReactNode;
}

export function UsageLink({ search, className, title, children }: UsageLinkProps) {
  return (
    <Link
      className={classNames(
        'rounded-sm underline decoration-transparent underline-offset-4 hover:decoration-current',
        className,
      )}
      search={search}
      title={title}
      to="/usage"
    >
      {children}
    </Link>
  );
}
