/** The shapes of usage/report and operator/report. */

export interface ReportFigures {
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
  /** Grid intensity in gCO2e/kWh, weighted by tokens. */
  carbon: number | null;
  /** The requests for which it is known. */
  carbon_requests: number;
}

export interface ReportStep extends ReportFigures {
  at: string;
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

export type ReportGroup = 'key' | 'model' | 'provider' | 'locode' | 'status' | 'account';

export interface Report {
  from: string;
  to: string;
  step_seconds: number;
  totals: ReportFigures;
  previous: ReportFigures | null;
  series: ReportStep[];
  groups: Partial<Record<ReportGroup, ReportMember[]>>;
}
