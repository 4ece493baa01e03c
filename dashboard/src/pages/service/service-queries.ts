/** What the All usage page reads. */
import { operatorReportQuery } from '../../api/report.js';
import { type PeriodSearch, periodOf } from '../../components/period/period.js';

export function serviceReport(search: PeriodSearch) {
  const { from, to } = periodOf(search);
  return operatorReportQuery({ from, to, by: 'account,model,provider,locode', compare: 'previous' });
}
