/** The map, with a list that gives the same data as text. */
import type { ReportMember } from '../../api/report-types.js';
import { Card } from '../../components/card.js';
import { loadedApart } from '../../components/loaded-apart.js';
import { Skeleton } from '../../components/states.js';
import { UsageLink, type UsageSearch } from '../../components/usage-link.js';
import { carbon, count, share, unknown } from '../../format/figures.js';
import { placeName } from '../../format/place.js';

const WorldMap = loadedApart(async () => (await import('./world-map.js')).WorldMap);

const listed = 6;

export function MapCard({ regions, search }: { regions: readonly ReportMember[]; search: UsageSearch }) {
  const most = [...regions].sort((a, b) => b.requests - a.requests);
  const all = regions.reduce((sum, { requests }) => sum + requests, 0);
  return (
    <Card title="Where requests were served">
      <div className="grid items-center gap-6 lg:grid-cols-[minmax(0,1fr)_18rem]">
        <WorldMap placeholder={<Skeleton className="aspect-[144/54] w-full" />} regions={regions} />
        <ul className="flex flex-col gap-3">
          {regions.length === 0 && <li className="text-ink-3">No request was served in this period.</li>}
          {most.slice(0, listed).map((region) => (
            <li key={region.id}>
              <div className="flex items-baseline justify-between gap-3">
                <UsageLink
                  className="min-w-0 truncate font-medium"
                  search={{ ...search, locode: region.id ?? undefined }}
                  title={region.id ?? undefined}
                >
                  {placeName(region.city, region.id ?? unknown)}
                  <span className="ml-1.5 font-normal text-ink-3">{region.country ?? region.id}</span>
                </UsageLink>
                <span className="tabular shrink-0 text-sm text-ink-2">
                  {count(region.requests)} · {carbon(region.carbon)}
                </span>
              </div>
              <div className="mt-1 h-1 rounded-full bg-sunken">
                <div className="h-1 rounded-full bg-accent" style={{ width: `${(region.requests / all) * 100}%` }} />
              </div>
              <span className="sr-only">{share(region.requests, all)} of requests</span>
            </li>
          ))}
        </ul>
      </div>
    </Card>
  );
}
