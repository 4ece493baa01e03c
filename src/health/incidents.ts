/** The incidents of routes as one list for all processes: what several of them saw at the same time is one incident. */
import type { IncidentKind, IncidentRow } from '../storage/store.js';
import { incidentLeaseMs } from './route-history.js';

export interface Incident {
  readonly kind: IncidentKind;
  readonly fromMs: number;
  /** null while it lasts. */
  readonly toMs: number | null;
}

interface Open {
  kind: IncidentKind;
  fromMs: number;
  toMs: number;
  /** The process that saw it has died without saying how it went on. */
  isCut: boolean;
}

/** By route, newest first. `rows` begin with the oldest. */
export function mergeIncidents(rows: readonly IncidentRow[], nowMs: number): Map<string, Incident[]> {
  const byRoute = new Map<string, Open[]>();
  for (const row of rows) {
    const known = byRoute.get(row.routeId) ?? [];
    byRoute.set(row.routeId, known);
    const isCut = row.toMs === null && nowMs - row.seenMs > incidentLeaseMs;
    const toMs = row.toMs ?? (isCut ? row.seenMs : Number.POSITIVE_INFINITY);
    const earlier = known.findLast(({ kind }) => kind === row.kind);
    // A process that starts again finds the holds of before it; the time in between belongs to the same incident.
    const slackMs = earlier?.isCut ? incidentLeaseMs : 0;
    if (!earlier || row.fromMs > earlier.toMs + slackMs)
      known.push({ kind: row.kind, fromMs: row.fromMs, toMs, isCut });
    else if (toMs >= earlier.toMs) Object.assign(earlier, { toMs, isCut });
  }
  return new Map([...byRoute].map(([routeId, found]) => [routeId, found.reverse().map(incidentOf)]));
}

function incidentOf({ kind, fromMs, toMs }: Open): Incident {
  return { kind, fromMs, toMs: Number.isFinite(toMs) ? toMs : null };
}
