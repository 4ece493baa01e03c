/** The record of one request that got as far as the walk: what was requested, who served it, what it cost. */
import type { BillLines } from '../wire/cost.js';

export type StreamEnd = 'complete' | 'stalled' | 'cut' | 'client_closed' | 'pricing_fault';

export interface AttemptRecord {
  provider: string;
  locode: string;
  /** `served`, or the kind of failure. */
  outcome: string;
  status: number | null;
  first_byte_ms: number | null;
  error: string | null;
}

export const skipReasons = [
  ...(['breaker_open', 'quota_held', 'unconfigured', 'unpriced', 'cannot_apply'] as const),
  ...(['credential_failing', 'credential_held'] as const),
] as const;

/** A route that was ruled out without a call. */
export interface SkippedRoute {
  /** The four-segment id. */
  route: string;
  reason: (typeof skipReasons)[number];
  /** The parameter that the route cannot apply; null for other reasons. */
  param: string | null;
}

export interface Generation {
  id: string;
  requestId: string;
  accountId: string;
  keyId: string;
  keyName: string;
  /** Epoch milliseconds. */
  createdAt: number;
  requestedModel: string;
  servedModel: string | null;
  provider: string | null;
  locode: string | null;
  streamed: boolean;
  status: number;
  promptTokens: number;
  completionTokens: number;
  cachedTokens: number;
  reasoningTokens: number;
  costPico: bigint;
  /** True where the answer was delivered: it then has a ledger entry, also where the cost is 0. False for failures. */
  billed: boolean;
  latencyMs: number;
  firstByteMs: number | null;
  providersAttempted: string[];
  fallbackOccurred: boolean;
  finishReason: string | null;
  streamEnd: StreamEnd | null;
  usageSource: 'provider' | 'counted' | 'estimated' | null;
  errorCode: string | null;
  attempts: AttemptRecord[];
  /** How the cost is made up; null where nothing was billed, and in records of versions that did not keep it. */
  bill: BillLines | null;
  /** The `provider` object of the request, without nulls and empty lists; null where it asked for nothing. */
  requestPolicy?: Readonly<Record<string, unknown>> | null;
  /** The client API that the request came by; absent or null = chat completions. */
  door?: string | null;
  /** What the receipt needs besides (src/proof/proof-facts.ts); null without proofs, and in records of versions that did not keep it. */
  proof?: string | null;
  /** The project that paid for it; null in records of versions without projects, which count for the default one. */
  projectId?: string | null;
  /** The person who held the key, by the stored id; null where it belonged to the project. */
  holderId?: string | null;
  /** Who the client said was asking; null where the account does not keep it. */
  endUser?: string | null;
  /** The customer's own credential that it was served with; null for the operator's, and where nobody served. */
  credentialId?: string | null;
  credentialOwner?: 'project' | 'account' | null;
  /** The list price of what that credential has paid for; null without one. `costPico` is then the fee. */
  notionalPico?: bigint | null;
  /** What budgets, caps and keys count where that is not the cost. */
  countedPico?: bigint | null;
  /** The routes that were not tried, in their order; null where there were none, and in records of versions that did not keep them. */
  skipped?: readonly SkippedRoute[] | null;
}

/** What a generation adds to budgets, caps and the usage of its key. */
export function countedOf({
  billed,
  costPico,
  countedPico,
}: Pick<Generation, 'billed' | 'costPico' | 'countedPico'>): bigint {
  return billed ? (countedPico ?? costPico) : 0n;
}
