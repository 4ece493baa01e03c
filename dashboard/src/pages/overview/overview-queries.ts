/** What the Overview page reads. */
import { reportQuery } from '../../api/report.js';
import { type PeriodSearch, periodOf } from '../../components/period/period.js';

export interface OverviewSearch extends PeriodSearch {
  project?: string | undefined;
}

export function overviewReport(search: OverviewSearch) {
  const { from, to } = periodOf(search);
  return reportQuery({
    ...{ from, to, project: search.project, by: 'model,key,provider,locode' },
    ...{ compare: 'previous', carbon: 'steps' },
  });
}
