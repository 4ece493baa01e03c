/** Decides whether an entry of a project's `trust` admits the claims of a token. */
import type { TrustEntry } from '../../domain/organisation.js';

export type Claims = Readonly<Record<string, unknown>>;

/** The first entry that admits the claims; `audience` is what a token is for where the entry does not say. */
export function entryFor(trust: readonly TrustEntry[], claims: Claims, audience: string): TrustEntry | undefined {
  return trust.find((entry) => admits(entry, claims, audience));
}

function admits(entry: TrustEntry, claims: Claims, audience: string): boolean {
  return (
    claims.iss === entry.issuer &&
    holds(claims.aud, entry.audience ?? audience) &&
    typeof claims.sub === 'string' &&
    matchesSubject(entry.subject, claims.sub) &&
    Object.entries(entry.claims).every(([name, text]) => Object.hasOwn(claims, name) && holds(claims[name], text))
  );
}

/** Texts, numbers and booleans are compared as text; a list has to hold the value. */
function holds(claim: unknown, text: string): boolean {
  if (Array.isArray(claim)) return claim.some((item) => isPlain(item) && String(item) === text);
  return isPlain(claim) && String(claim) === text;
}

function isPlain(claim: unknown): claim is string | number | boolean {
  return typeof claim === 'string' || typeof claim === 'number' || typeof claim === 'boolean';
}

/** `*` stands for any text within one part between `:` or `/`. */
export function matchesSubject(pattern: string, subject: string): boolean {
  if (!pattern.includes('*')) return pattern === subject;
  const parts = pattern.split(/([:/])/);
  const found = subject.split(/([:/])/);
  return parts.length === found.length && parts.every((part, at) => matchesPart(part, found[at]!));
}

/** Each `*` takes as little as it can and more where the rest fails, so the time is bounded by the product of the lengths. */
function matchesPart(pattern: string, text: string): boolean {
  let [at, inText] = [0, 0];
  let [star, taken] = [-1, 0];
  while (inText < text.length) {
    if (pattern[at] === '*') {
      [star, taken] = [at++, inText];
    } else if (pattern[at] === text[inText]) {
      at++;
      inText++;
    } else if (star >= 0) {
      at = star + 1;
      inText = ++taken;
    } else {
      return false;
    }
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}
