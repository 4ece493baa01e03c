/**
 * What a receipt needs besides the other columns of a generation. The request path writes it as one cell of the settlement line, by hand
 * because every request does; hashes are base64url there, which is shorter than hexadecimal.
 */
import { hash } from 'node:crypto';
import type { Route } from '../catalogue/route.js';

export interface ProofFacts {
  /** Hexadecimal SHA-256 of the policy in force. */
  readonly policy: string | null;
  /** Hexadecimal digest of the catalogue in force. */
  readonly catalogue: string | null;
  /** The gates in force, with how many routes each removed. */
  readonly gates: readonly (readonly [name: string, removed: number])[] | null;
  readonly country: string | null;
  readonly cloudAct: boolean | null;
  readonly carbon: number | null;
  readonly requestSha256: string | null;
  readonly answerSha256: string | null;
}

const noFacts: ProofFacts = {
  ...{ policy: null, catalogue: null, gates: null, country: null, cloudAct: null, carbon: null },
  ...{ requestSha256: null, answerSha256: null },
};

export interface CellParts {
  /** These three are JSON text. */
  readonly policy: string;
  readonly catalogue: string;
  readonly gates: string;
  /** The route that served; null where none did. */
  readonly route: Route | null;
  /** base64url; null where they were not hashed. */
  readonly requestHash: string | null;
  readonly answerHash: string | null;
}

const places = new WeakMap<Route, string>();

function placeText(route: Route): string {
  let text = places.get(route);
  if (text === undefined) {
    const { country, provider, carbon } = route;
    text = JSON.stringify([country, provider.cloudAct, carbon]);
    places.set(route, text);
  }
  return text;
}

const quoted = (hash: string | null): string => (hash === null ? 'null' : `"${hash}"`);

/** `[policy, catalogue, gates, place, request, answer]`. */
export function proofCell({ policy, catalogue, gates, route, requestHash, answerHash }: CellParts): string {
  const place = route === null ? 'null' : placeText(route);
  return `[${policy},${catalogue},${gates},${place},${quoted(requestHash)},${quoted(answerHash)}]`;
}

type Cell = [
  string | null,
  string | null,
  ProofFacts['gates'],
  [string | null, boolean | null, number | null] | null,
  string | null,
  string | null,
];

const hexOf = (hash: string | null): string | null =>
  hash === null ? null : Buffer.from(hash, 'base64url').toString('hex');

/** Rows of versions that did not write the cell have none. */
export function readProofCell(cell: string | null | undefined): ProofFacts {
  if (cell === null || cell === undefined) return noFacts;
  const [policy, catalogue, gates, place, request, answer] = JSON.parse(cell) as Cell;
  const [country, cloudAct, carbon] = place ?? [null, null, null];
  return {
    ...{ policy: hexOf(policy), catalogue: hexOf(catalogue), gates, country, cloudAct, carbon },
    ...{ requestSha256: hexOf(request), answerSha256: hexOf(answer) },
  };
}

/** The cell in three parts: what many requests have in common, and the two hashes, hexadecimal. */
export interface CellHashes {
  readonly common: string;
  readonly request: string | null;
  readonly answer: string | null;
}

const noHashes = ',null,null]';
/** Two hashes of 43 characters, quoted, with what stands around them. */
const twoHashes = /^,"([\w-]{43})","([\w-]{43})"\]$/;
const twoHashesLength = 2 * 43 + ',"'.length + '","'.length + '"]'.length;

/** null for a cell that has one of the hashes only. */
export function splitCell(cell: string): CellHashes | null {
  if (cell.endsWith(noHashes)) return { common: cell.slice(0, -noHashes.length), request: null, answer: null };
  const hashes = twoHashes.exec(cell.slice(-twoHashesLength));
  if (hashes === null) return null;
  return { common: cell.slice(0, -twoHashesLength), request: hexOf(hashes[1]!), answer: hexOf(hashes[2]!) };
}

/** A hexadecimal digest as the cell has it, quoted. */
export function digestCell(hex: string): string {
  return `"${Buffer.from(hex, 'hex').toString('base64url')}"`;
}

/** The hash of a body, as the cell has it. */
export function bodyHash(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'base64url');
}
