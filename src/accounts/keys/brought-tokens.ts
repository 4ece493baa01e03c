/**
 * Tokens of other systems that keys are verified by. They have no id in them, so a token is found by its hash: once in the store, then in
 * memory. Nothing is looked up while there is no such key.
 */
import { SharedRead } from '../../base/shared-read.js';
import type { Counters } from '../../cluster/ports.js';
import type { GatewayError } from '../../errors/gateway-error.js';
import type { BroughtStore } from '../../storage/store.js';
import { hashToken, tokenPrefix } from './token.js';

/** A busy gateway has fewer clients with such tokens. The oldest go first, and are then found in the store again. */
const idsMax = 50_000;
/** Unknown tokens that an address may present in a minute. */
const guessesPerMinute = 60;

interface BroughtDeps {
  store: BroughtStore;
  guesses: Counters;
  /** The name under which an address is counted. */
  peerOf: (address: string) => string;
  refusalOf: (limit: number, resetMs: number) => GatewayError;
  /** Resolves when every process looks whether there are such keys. */
  announce: () => Promise<void>;
}

export class BroughtTokens {
  /** There is at least one such key. */
  any = false;
  /** Found by the hash code of the whole token and never by comparing prefixes, so the time reveals nothing to a guess. */
  private readonly ids = new Map<string, string>();
  private readonly reads = new Map<string, SharedRead<string | null>>();

  constructor(private readonly deps: BroughtDeps) {}

  /** Call it before serving, and when another process may have created the first such key. */
  async load(): Promise<void> {
    this.any = await this.deps.store.any();
  }

  /** A key was created. The other processes learn of the first one, before it is acknowledged. */
  async noteFirst(): Promise<void> {
    if (this.any) return;
    this.any = true;
    await this.deps.announce();
  }

  /** The id of the key, as far as memory knows; undefined where `find` must be called. */
  idOf(token: string): string | undefined {
    return this.ids.get(token);
  }

  /** The id of the key; null where no key has this token. Throws StoreUnavailable. */
  async find(token: string): Promise<string | null> {
    let read = this.reads.get(token);
    if (!read) {
      read = new SharedRead(() => this.deps.store.find(hashToken(token)));
      this.reads.set(token, read);
    }
    try {
      const id = await read.ask();
      if (id !== null) this.remember(token, id);
      return id;
    } finally {
      if (read.idle) this.reads.delete(token);
    }
  }

  forget(token: string): void {
    this.ids.delete(token);
  }

  /** Counts a token that no key has. The refusal of an address that has presented too many; null for the others. */
  async countGuess(address: string): Promise<GatewayError | null> {
    const { guesses, peerOf, refusalOf } = this.deps;
    const { admitted, resetMs } = await guesses.take(peerOf(address), 1, guessesPerMinute);
    return admitted ? null : refusalOf(guessesPerMinute, resetMs);
  }

  private remember(token: string, id: string): void {
    if (this.ids.size >= idsMax) this.ids.delete(this.ids.keys().next().value!);
    this.ids.set(token, id);
  }
}

const scheme = 'Bearer ';
const printable = /^[\x20-\x7e]{1,512}$/;

/** The token of another system in the header; null where it is none that is looked up. */
export function broughtTokenIn(authorization: string | undefined): string | null {
  if (authorization === undefined || !authorization.startsWith(scheme)) return null;
  const token = authorization.slice(scheme.length);
  return !token.startsWith(tokenPrefix) && printable.test(token) ? token : null;
}
