/** A map of where requests were served: land as dots, one circle per region, sized by requests. A separate chunk, because of its data. */
import type { ReportMember } from '../../api/report-types.js';
import { plural } from '../../format/figures.js';
import { cellDegrees, landRows, northDegrees } from './land-cells.js';

const columns = 360 / cellDegrees;
const rows = landRows.length;

const land = landRows
  .flatMap((row, y) =>
    [...row].flatMap((digit, group) =>
      [0, 1, 2, 3]
        .filter((bit) => Number.parseInt(digit, 16) & (8 >> bit))
        .map((bit) => `M${group * 4 + bit + 0.5} ${y + 0.5}h0`),
    ),
  )
  .join('');

const radiusMin = 0.9;
const radiusMax = 3.4;

export function WorldMap({ regions }: { regions: readonly ReportMember[] }) {
  const placed = regions.filter(({ lat, lon }) => typeof lat === 'number' && typeof lon === 'number');
  const most = Math.max(1, ...placed.map(({ requests }) => requests));
  return (
    <svg
      aria-label={`Map of the regions that served requests: ${placed.map(({ city, requests }) => `${city}, ${plural(requests, 'request')}`).join('; ') || 'none'}.`}
      className="w-full"
      role="img"
      viewBox={`0 0 ${columns} ${rows}`}
    >
      <path className="stroke-field/45" d={land} fill="none" strokeLinecap="round" strokeWidth="0.6" />
      {[...placed].reverse().map((region) => {
        const x = ((region.lon ?? 0) + 180) / cellDegrees;
        const y = (northDegrees - (region.lat ?? 0)) / cellDegrees;
        const radius = radiusMin + (radiusMax - radiusMin) * Math.sqrt(region.requests / most);
        return (
          <g key={region.id}>
            <title>{`${region.city}: ${plural(region.requests, 'request')}`}</title>
            <circle className="fill-accent/25 stroke-accent" cx={x} cy={y} r={radius} strokeWidth="0.25" />
            <circle className="fill-accent" cx={x} cy={y} r="0.5" />
          </g>
        );
      })}
    </svg>
  );
}
