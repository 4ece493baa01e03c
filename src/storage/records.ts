/** The records that the store keeps and the request path reads: keys, accounts, aliases, generations. */
import type { RoutingPolicy } from '../policy/policy.js';

export interface Key {
  /** The token's first ten body characters: the key's public id (ruling 1). */
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly lastFour: string;
  /** SHA-256 of the whole token; null once expiry has erased it. */
  readonly hash: Buffer | null;
  /** Epoch milliseconds; null = never. */
  readonly expiresAt: number | null;
  readonly createdAt: number;
}

export interface AliasTarget {
  readonly provider: string;
  readonly canonicalId: string;
  /** null for `auto`. */
  readonly locode: string | null;
}

export interface Alias extends AliasTarget {
  readonly name: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Held in memory and written through, so that it is always exact in one process (architecture 3). Mutable on purpose. */
export interface Account {
  readonly id: string;
  readonly email: string;
  name: string | null;
  status: 'active' | 'suspended';
  billingCountry: string | null;
  /** The sum of the ledger, settlements that still wait in the journal included. */
  balancePico: bigint;
  /** The sum of what usage has cost, as a positive amount. */
  usagePico: bigint;
  limits: { requestsPerMinute: number | null; tokensPerMinute: number | null };
  readonly aliases: Map<string, Alias>;
  /** The saved fallback chain (§2.4); empty where none is saved. */
  fallback: readonly string[];
  policy: RoutingPolicy;
  readonly createdAt: number;
}

export interface Identity {
  readonly key: Key;
  readonly account: Account;
}

export type StreamEnd = 'complete' | 'stalled' | 'cut' | 'client_closed' | 'pricing_fault';

export interface AttemptRecord {
  provider: string;
  locode: string;
  /** `served`, or what the failure meant. */
  outcome: string;
  status: number | null;
  first_byte_ms: number | null;
  error: string | null;
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
  /** Delivered, so it has a ledger entry (also of 0); false on failures. */
  billed: boolean;
  latencyMs: number;
  firstByteMs: number | null;
  providersAttempted: string[];
  fallbackOccurred: boolean;
  finishReason: string | null;
  streamEnd: StreamEnd | null;
  usageSource: 'provider' | 'counted' | null;
  errorCode: string | null;
  attempts: AttemptRecord[];
}
