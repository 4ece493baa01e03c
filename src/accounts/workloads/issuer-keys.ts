/** The public keys of issuers: found by discovery at the issuer, or read from a file, and kept for a while. */
import type { JSONWebKeySet } from 'jose';
import { SharedRead } from '../../base/shared-read.js';
import type { WorkloadIssuer } from '../../config/workload-issuers.js';

interface IssuerKeysDeps {
  /** The body of an https address, without following redirects; http on a loopback address only. Rejects where there is none. */
  download: (url: string) => Promise<Buffer>;
  readFile: (path: string) => Promise<Buffer>;
  monotonicMs: () => number;
}

/** The keys are read again after this time, so that one which the issuer has withdrawn is not believed for long. */
const freshMs = 10 * 60_000;
/** While the issuer is away, the keys that it had are believed for so long. */
const staleMs = 60 * 60_000;
/** How often in a minute the keys are read again because a token names one that is not among them, which anybody can bring about. */
const searchesPerMinute = 6;

/** The keys of an issuer cannot be had. */
export class IssuerAway extends Error {
  override readonly name = 'IssuerAway';
}

interface KnownKeys {
  readonly keys: JSONWebKeySet;
  readonly readAtMs: number;
}

export class IssuerKeys {
  private readonly issuers: ReadonlyMap<string, WorkloadIssuer>;
  private readonly known = new Map<string, KnownKeys>();
  private readonly searchedAtMs = new Map<string, number[]>();
  private readonly reads = new Map<string, SharedRead<KnownKeys>>();

  constructor(
    issuers: readonly WorkloadIssuer[],
    private readonly deps: IssuerKeysDeps,
  ) {
    this.issuers = new Map(issuers.map((issuer) => [issuer.issuer, issuer]));
  }

  allows(issuer: string): boolean {
    return this.issuers.has(issuer);
  }

  /** Throws IssuerAway where there are none, and where they are too old to be believed. */
  async keysOf(issuer: string): Promise<JSONWebKeySet> {
    const known = this.known.get(issuer);
    if (known && this.ageOf(known) < freshMs) return known.keys;
    try {
      return (await this.read(issuer)).keys;
    } catch (error) {
      if (known && this.ageOf(known) < staleMs) return known.keys;
      throw error;
    }
  }

  /** The keys as they are now, because a token names one that is not among `known`; null where that was asked too often. */
  async newerKeysOf(issuer: string, known: JSONWebKeySet): Promise<JSONWebKeySet | null> {
    const latest = this.known.get(issuer);
    if (latest && latest.keys !== known) return latest.keys;
    if (this.reads.get(issuer)?.idle !== false && !this.maySearch(issuer)) return null;
    return (await this.read(issuer)).keys;
  }

  private maySearch(issuer: string): boolean {
    const nowMs = this.deps.monotonicMs();
    const recent = (this.searchedAtMs.get(issuer) ?? []).filter((atMs) => nowMs - atMs < 60_000);
    const may = recent.length < searchesPerMinute;
    if (may) recent.push(nowMs);
    this.searchedAtMs.set(issuer, recent);
    return may;
  }

  private ageOf({ readAtMs }: KnownKeys): number {
    return this.deps.monotonicMs() - readAtMs;
  }

  /** One read answers all who ask at the same time. */
  private read(issuer: string): Promise<KnownKeys> {
    let read = this.reads.get(issuer);
    if (!read) {
      read = new SharedRead(() => this.readNow(issuer));
      this.reads.set(issuer, read);
    }
    return read.join();
  }

  private async readNow(issuer: string): Promise<KnownKeys> {
    const { deps } = this;
    const readAtMs = deps.monotonicMs();
    const file = this.issuers.get(issuer)?.jwksFile ?? null;
    try {
      const keys = keysIn(file === null ? await this.discover(issuer) : await deps.readFile(file));
      const known = { keys, readAtMs };
      this.known.set(issuer, known);
      return known;
    } catch (error) {
      throw new IssuerAway(`The keys of ${issuer} cannot be read: ${(error as Error).message}`);
    }
  }

  private async discover(issuer: string): Promise<Buffer> {
    const text = await this.deps.download(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
    const { issuer: named, jwks_uri } = JSON.parse(text.toString('utf8')) as Record<string, unknown>;
    if (named !== issuer) throw new Error('its configuration names another issuer');
    if (typeof jwks_uri !== 'string') throw new Error('its configuration names no keys');
    return this.deps.download(jwks_uri);
  }
}

function keysIn(text: Buffer): JSONWebKeySet {
  const set = JSON.parse(text.toString('utf8')) as JSONWebKeySet | null;
  const isSet = Array.isArray(set?.keys) && set.keys.every((key) => typeof key === 'object' && key !== null);
  if (!isSet) throw new Error('they are no key set');
  return set;
}
