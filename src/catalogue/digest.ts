/** The digest of the catalogue in force: what a receipt names, and what tells whether a load has changed anything. */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { factsOf } from './facts.js';
import type { Snapshot } from './route.js';

interface CanonicalCatalogue {
  /** RFC 8785. */
  readonly text: string;
  readonly digest: string;
}

const known = new WeakMap<Snapshot, CanonicalCatalogue>();

/** The facts of a snapshot as canonical JSON, and the lower-case hex SHA-256 of that text. */
export function canonicalCatalogue(snapshot: Snapshot): CanonicalCatalogue {
  let canonical = known.get(snapshot);
  if (!canonical) {
    const text = canonicalize(factsOf(snapshot))!;
    canonical = { text, digest: createHash('sha256').update(text).digest('hex') };
    known.set(snapshot, canonical);
  }
  return canonical;
}

/** A reload that changes no fact keeps it. Sources and dates are no part of it: to confirm a figure again changes nothing. */
export function catalogueDigest(snapshot: Snapshot): string {
  return canonicalCatalogue(snapshot).digest;
}
