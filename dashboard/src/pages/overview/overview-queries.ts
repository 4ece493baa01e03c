/** What the Overview page reads. */
import { reportQuery } from '../../api/report.js';
import { type PeriodSearch, periodOf } from '../../components/period/period.js';

export function overviewReport(search: PeriodSearch) {
  const { from, to } = periodOf(search, '7d');
  return reportQuery({ from, to, by: 'model,key,provider,locode', compare: 'previous', carbon: 'steps' });
}
