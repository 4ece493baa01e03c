/**
 * The keys with which an identity provider signs. They are kept for some minutes. A token with a key that is not among them has them
 * read again, a limited number of times, so that a provider can change its keys at any moment and nobody can have us call it all day.
 */
import type { CompactVerifyGetKey, JSONWebKeySet } from 'jose';
import { SharedRead } from '../../../base/shared-read.js';
import type { Clock } from '../../../base/time.js';
import { ProviderCallFailed, quoted, SignInFault } from './faults.js';
import type { ProviderFetch } from './fetch-port.js';

const keptMs = 10 * 60_000;
const keysMax = 100;

/** What may have keys read again: who signs in has just been at the provider, and a logout may come from anybody. */
export type KeyUse = 'sign-in' | 'logout';

export interface Keys {
  readonly find: CompactVerifyGetKey;
  readonly readAtMs: number;
}

export class ProviderKeys {
  private held: Keys | null = null;
  private readonly reads: SharedRead<Keys>;
  private readonly renewals: Record<KeyUse, Allowance>;

  constructor(
    private readonly deps: {
      fetch: ProviderFetch;
      clock: Pick<Clock, 'monotonicMs'>;
      address: () => Promise<string>;
    },
  ) {
    this.reads = new SharedRead(() => this.read());
    this.renewals = {
      'sign-in': new Allowance(deps.clock, 20, 3_000),
      logout: new Allowance(deps.clock, 10, 10_000),
    };
  }

  async current(): Promise<Keys> {
    const isFresh = this.held !== null && this.deps.clock.monotonicMs() < this.held.readAtMs + keptMs;
    return isFresh ? this.held! : this.reads.join();
  }

  /** Newer keys than these; null where they may not be read again yet. */
  async newerThan(keys: Keys, use: KeyUse): Promise<Keys | null> {
    if (this.held !== null && this.held !== keys) return this.held;
    return this.renewals[use].take() ? this.reads.join() : null;
  }

  private async read(): Promise<Keys> {
    const { fetch, clock, address } = this.deps;
    const readAtMs = clock.monotonicMs();
    const response = await fetch(await address(), { headers: { accept: 'application/json' } });
    if (response.status >= 500) throw new ProviderCallFailed(`The address of its keys answered ${response.status}.`);
    if (response.status !== 200)
      throw new SignInFault('provider_answer', `The address of its keys answered ${response.status}.`);
    const { createLocalJWKSet } = await import('jose');
    this.held = { find: createLocalJWKSet(keySetOf(await response.text())), readAtMs };
    return this.held;
  }
}

function keySetOf(text: string): JSONWebKeySet {
  let keys: unknown;
  try {
    ({ keys } = JSON.parse(text) as { keys?: unknown });
  } catch {
    // The text is not quoted: it may be long, and says little.
  }
  const isList = Array.isArray(keys) && keys.length <= keysMax && keys.every((key) => typeof key?.kty === 'string');
  if (!isList)
    throw new SignInFault('provider_answer', `The address of its keys has ${quoted(typeof keys)} instead of keys.`);
  // A secret among public keys would let anybody sign with it.
  return { keys: (keys as JSONWebKeySet['keys']).filter(({ kty }) => kty !== 'oct') };
}

/** So many at once, then one each time that `refillMs` have passed. */
export class Allowance {
  private left: number;
  private countedAtMs: number;

  constructor(
    private readonly clock: Pick<Clock, 'monotonicMs'>,
    private readonly capacity: number,
    private readonly refillMs: number,
  ) {
    this.left = capacity;
    this.countedAtMs = clock.monotonicMs();
  }

  take(): boolean {
    const now = this.clock.monotonicMs();
    this.left = Math.min(this.capacity, this.left + (now - this.countedAtMs) / this.refillMs);
    this.countedAtMs = now;
    if (this.left < 1) return false;
    this.left--;
    return true;
  }
}
