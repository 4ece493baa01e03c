/** The shapes of usage/report and operator/report. */

/** Sums of a period or a step. */
export interface ReportSums {
  requests: number;
  errors: number;
  spend_usd: string;
  tokens: number;
  prompt_tokens: number;
  completion_tokens: number;
  cached_tokens: number;
  /** From a request's arrival to the first byte for the caller. */
  first_byte_p50_ms: number | null;
  first_byte_p95_ms: number | null;
}

export interface ReportFigures extends ReportSums {
  /** Grid intensity in gCO2e/kWh, weighted by tokens. */
  carbon: number | null;
  /** The requests for which it is known. */
  carbon_requests: number;
}

export interface ReportStep extends ReportSums {
  at: string;
  /** Only of a report that was asked for it by `carbon=steps`. */
  carbon?: number | null;
}

/** An id of null is what nobody served. */
export interface ReportMember extends ReportFigures {
  id: string | null;
  name: string;
  /** Of a provider: the requests that it was tried for and that nobody served. */
  failed_attempts?: number;
  /** Of a region. */
  city?: string | null;
  country?: string | null;
  lat?: number | null;
  lon?: number | null;
}

export type ReportGroup = 'key' | 'project' | 'model' | 'provider' | 'locode' | 'status' | 'account';

export interface Report {
  from: string;
  to: string;
  step_seconds: number;
  totals: ReportFigures;
  previous: ReportSums | null;
  series: ReportStep[];
  groups: Partial<Record<ReportGroup, ReportMember[]>>;
}
