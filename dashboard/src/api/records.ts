/** What the gateway publishes for everybody: the status of routes and changes of the catalogue. Both may be switched off. */
import { queryOptions } from '@tanstack/react-query';

export interface StatusWindow {
  availability: number | null;
  error_rate: number | null;
  first_byte_ms: { p50: number | null; p95: number | null } | null;
  tokens_per_second: { p50: number | null } | null;
}

export interface RouteStatus {
  provider: string;
  locode: string;
  model: string | null;
  /** By `24h`, `7d` and `90d`; null = too few requests. */
  windows: Record<string, StatusWindow | null | undefined>;
  incidents: { kind: string; from: string; to: string | null }[];
}

export interface CatalogueChange {
  at: string;
  kind: string;
  id: string;
  field: string | null;
  from: unknown;
  to: unknown;
  source: string | null;
}

/** Null where the gateway does not offer it. */
async function published<T>(path: string): Promise<T[] | null> {
  const answer = await fetch(path);
  if (!answer.ok) return null;
  const { data } = (await answer.json()) as { data?: T[] };
  return Array.isArray(data) ? data : null;
}

const keptMs = 60_000;

export const statusQuery = queryOptions({
  queryKey: ['published', 'status'],
  queryFn: () => published<RouteStatus>('/v1/status'),
  staleTime: keptMs,
  retry: false,
});

export const catalogueChangesQuery = (model: string) =>
  queryOptions({
    queryKey: ['published', 'changes', model],
    queryFn: () => published<CatalogueChange>(`/v1/catalogue/changes?model=${encodeURIComponent(model)}`),
    staleTime: keptMs,
    retry: false,
  });
