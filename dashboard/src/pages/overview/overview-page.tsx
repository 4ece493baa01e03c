/** The Overview page: spend, requests, errors, latency and carbon over time, by model, provider and region; first steps for a new account. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { overviewQuery } from '../../api/queries.js';
import type { Overview } from '../../api/types.js';
import { PageData } from '../../components/page-data.js';
import { PageHeader } from '../../components/page-header.js';
import { Segmented } from '../../components/segmented.js';
import { Skeleton } from '../../components/states.js';
import { Breakdowns } from './breakdowns.js';
import { FirstSteps } from './first-steps.js';
import { MapCard } from './map-card.js';
import { SummaryStats } from './summary-stats.js';
import { TimeCharts } from './time-charts.js';

const ranges = [
  { value: '24h', label: '24 h' },
  { value: '7d', label: '7 days' },
  { value: '30d', label: '30 days' },
  { value: '90d', label: '90 days' },
];

export function Page() {
  const [range, setRange] = useState('7d');
  const overview = useQuery({ ...overviewQuery(range), placeholderData: keepPreviousData });
  // An account is new only if it had no request in a quarter; one quiet week is not enough.
  const quiet = overview.data !== undefined && isQuiet(overview.data);
  const longer = useQuery({ ...overviewQuery('90d'), enabled: quiet });
  const isNew = quiet && longer.data !== undefined && isQuiet(longer.data);
  return (
    <>
      <PageHeader
        actions={!isNew && <Segmented label="Period" onChange={setRange} options={ranges} value={range} />}
        title="Overview"
      />
      <PageData query={overview} skeleton={<OverviewSkeleton />}>
        {(data) => (
          <div className="flex flex-col gap-5">
            {isNew ? <FirstSteps balance={data.balance_usd} /> : <Figures data={data} />}
          </div>
        )}
      </PageData>
    </>
  );
}

const isQuiet = ({ totals, previous }: Overview) => totals.requests === 0 && previous.requests === 0;

function Figures({ data }: { data: Overview }) {
  return (
    <>
      <SummaryStats data={data} />
      <TimeCharts data={data} />
      <MapCard regions={data.by_region.filter(({ id }) => id !== '')} />
      <Breakdowns data={data} />
    </>
  );
}

function OverviewSkeleton() {
  return (
    <div className="flex flex-col gap-5" role="status">
      <span className="sr-only">Loading</span>
      <Skeleton className="h-28" />
      <div className="grid gap-5 md:grid-cols-2">
        <Skeleton className="h-72" />
        <Skeleton className="h-72" />
      </div>
      <Skeleton className="h-80" />
    </div>
  );
}
