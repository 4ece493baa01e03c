/**
 * What a request needs of shared state before it is admitted, in one round trip (architecture 3): the counts of its address
 * and its key (contract 5, checks 2 and 7), and whether what is held in memory about it is still true.
 */
import type { Reading } from './counters.js';

export interface AdmissionAsk {
  /** The name of the caller's address among the counters of addresses, and its limit; null = counted already. */
  readonly peer: { readonly name: string; readonly limit: number } | null;
  /** The key that the caller has shown, if it is held in memory and good; null counts and compares nothing of a key. */
  readonly key: { readonly id: string; readonly accountId: string; readonly limit: number } | null;
}

export interface Counted extends Reading {
  readonly admitted: boolean;
}

export interface AdmissionAnswer {
  readonly peer: Counted | null;
  /** null without a key, and where the address was refused: such a request counts nowhere else. */
  readonly request: Counted | null;
  /** null = there is no such version (any more): what is held has to be read again. */
  readonly keyVersion: string | null;
  readonly accountVersion: string | null;
  readonly statesVersion: string | null;
  readonly catalogueVersion: string | null;
}

export interface Admission {
  /** null where shared state is out of reach; it costs no request more than 50 ms to find that out. */
  ask(ask: AdmissionAsk): Promise<AdmissionAnswer | null>;
}
