/** How the routes of a model did lately, and what changed in the catalogue. */
import { queryOptions } from '@tanstack/react-query';
import { api } from './client.js';

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

interface CatalogueChange {
  at: string;
  kind: string;
  id: string;
  field: string | null;
  from: unknown;
  to: unknown;
  source: string | null;
}

export interface ModelHistory {
  /** Every route of the model. */
  routes: (RouteStatus & { id: string })[];
  /** Of the model, its providers and its regions, the newest first. */
  changes: CatalogueChange[];
}

export const modelHistoryQuery = (model: string) =>
  queryOptions({
    queryKey: ['model-history', model],
    queryFn: () => api<ModelHistory>(`models/${model.split('/').map(encodeURIComponent).join('/')}/history`),
    staleTime: 60_000,
    // A store that takes too long for it would take as long again.
    retry: false,
  });
