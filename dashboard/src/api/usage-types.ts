/** The shapes of usage, credits and the operator's pages. */
import type { ModelState } from './types.js';

export interface Attempt {
  provider: string;
  locode: string;
  outcome: string;
  status: number | null;
  first_byte_ms: number | null;
  error: string | null;
}

/** A route that was not tried. */
export interface SkippedRoute {
  route: string;
  reason: string;
  param: string | null;
}

export interface CostLine {
  name: string;
  count: number;
  unit: 'token' | 'call' | 'request';
  price_usd: string;
  cost_usd: string;
}

export interface Generation {
  id: string;
  request_id: string;
  created_at: string;
  key_name: string;
  requested_model: string;
  served_model: string | null;
  provider: string | null;
  locode: string | null;
  streamed: boolean;
  status: number;
  prompt_tokens: number;
  completion_tokens: number;
  cached_tokens: number;
  reasoning_tokens: number;
  cost_usd: string;
  /** The list price of what an own credential has paid for. */
  notional_usd: string | null;
  is_byok: boolean;
  credential: { id: string | null; owner: 'project' | 'account' | 'operator' } | null;
  latency_ms: number;
  first_byte_ms: number | null;
  providers_attempted: string[];
  fallback_occurred: boolean;
  finish_reason: string | null;
  stream_end: 'complete' | 'stalled' | 'cut' | 'client_closed' | 'pricing_fault' | null;
  usage_source: 'provider' | 'counted' | 'estimated' | null;
  error_code: string | null;
  attempts: Attempt[];
  skipped: SkippedRoute[];
  cost_details: ({ tier?: string } & Record<string, string | undefined>) | null;
  notional_cost_details: ({ tier?: string } & Record<string, string | undefined>) | null;
  cost_lines: CostLine[] | null;
  /** The `provider` object that the request sent. */
  request_policy: Record<string, unknown> | null;
}

export interface Facets {
  keys: string[];
  models: string[];
  providers: string[];
}

export interface Credits {
  balance_usd: string;
  total_credits_usd: string;
  total_usage_usd: string;
  /** The sums of all credits and of all adjustments. */
  credited_usd: string;
  adjusted_usd: string;
  /** Below this balance the owner gets a notice; 0 turns it off. */
  low_balance_usd: string;
  /** The same amounts in a second currency, at the rate of `as_of`: USD for one unit. */
  display: DisplayAmounts | null;
  top_up: TopUpOffer;
}

export interface DisplayAmounts {
  code: string;
  rate: string;
  source: string;
  as_of: string;
  balance: string;
  credited: string;
  total_usage: string;
}

export interface TopUpOffer {
  processor: 'none' | 'stripe';
  available: boolean;
  message: string;
  min_usd?: string;
  max_usd?: string;
}

/** The state of a checkout. Credit is added when the processor reports the payment, not when the payer returns. */
export interface CheckoutState {
  state: 'confirming' | 'credited';
  amount_usd: string | null;
}

export interface LedgerEntry {
  id: string;
  created_at: string;
  kind: 'credit' | 'usage' | 'adjustment' | 'statement';
  amount_usd: string;
  /** In the second currency of the operator, where there is one. */
  amount_display?: string;
  balance_usd: string;
  generation_id: string | null;
  note: string | null;
}

export interface OperatorAccount {
  id: string;
  email: string;
  name: string | null;
  status: 'active' | 'suspended';
  billing_country: string | null;
  balance_usd: string;
  limits: { requests_per_minute: number | null; tokens_per_minute: number | null };
  operator: boolean;
  sign_in: boolean;
  created_at: string;
}

export interface RouteHealth {
  id: string;
  provider: string;
  creator: string;
  model: string;
  locode: string;
  country: string | null;
  configured: boolean;
  priced: boolean;
  model_state: ModelState;
  breaker: 'closed' | 'open' | 'half_open';
  hold: { until: string; reason?: string | null } | null;
  latency_ms: number | null;
  error_rate: number | null;
}

export interface AuditLogEntry {
  id: string;
  created_at: string;
  actor: string;
  /** The email of an account or the name of a key, where there is one. */
  actor_name: string | null;
  action: string;
  subject: string;
  subject_name: string | null;
  /** Where it came from; null where that is not known. */
  address?: string | null;
  account_id: string | null;
  account_name: string | null;
  details: Record<string, unknown>;
}
