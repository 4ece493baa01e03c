/**
 * What a receipt needs besides the other columns of a generation, as one cell of the settlement line, and the hashes in it. The request path
 * writes the cell by hand, because every request does; hashes are base64url there, which is shorter than hexadecimal.
 */
import { createHash, type Hash, hash } from 'node:crypto';
import type { Latin1Text } from '../base/latin1.js';
import type { MaybePromise } from '../base/turn.js';
import type { Route } from '../catalogue/route.js';

export interface ProofFacts {
  /** Hexadecimal SHA-256 of the policy in force. */
  readonly policy: string | null;
  /** The same of the project's policy; null where it has none. */
  readonly projectPolicy: string | null;
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
  ...{ policy: null, projectPolicy: null, catalogue: null, gates: null, country: null, cloudAct: null, carbon: null },
  ...{ requestSha256: null, answerSha256: null },
};

interface CellParts {
  /** JSON text; null where the project has no policy. */
  readonly projectPolicy: string | null;
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

/** The last start of a cell. All requests that one account sends to one route have the same. */
const known = { policy: '', catalogue: '', gates: '', place: '', text: '' };

function startOf(policy: string, catalogue: string, gates: string, place: string): string {
  const isKnown =
    known.policy === policy && known.catalogue === catalogue && known.gates === gates && known.place === place;
  if (!isKnown)
    Object.assign(known, { policy, catalogue, gates, place, text: `[${policy},${catalogue},${gates},${place},` });
  return known.text;
}

/**
 * `[policy, catalogue, gates, place, request, answer]`, and `[project policy]` behind them where there is one. That is a list of its own, so
 * that a version that does not know it does not take it for a hash.
 */
export function proofCell(parts: CellParts): string {
  const { policy, projectPolicy, catalogue, gates, route, requestHash, answerHash } = parts;
  const start = startOf(policy, catalogue, gates, route === null ? 'null' : placeText(route));
  const cell = `${start}${quoted(requestHash)},${quoted(answerHash)}`;
  return projectPolicy === null ? `${cell}]` : `${cell},[${projectPolicy}]]`;
}

type Cell = [
  string | null,
  string | null,
  ProofFacts['gates'],
  [string | null, boolean | null, number | null] | null,
  string | null,
  string | null,
  [string]?,
];

const hexOf = (hash: string | null): string | null =>
  hash === null ? null : Buffer.from(hash, 'base64url').toString('hex');

/** Rows of versions that did not write the cell have none. */
export function readProofCell(cell: string | null | undefined): ProofFacts {
  if (cell === null || cell === undefined) return noFacts;
  const [policy, catalogue, gates, place, request, answer, ofProject] = JSON.parse(cell) as Cell;
  const [country, cloudAct, carbon] = place ?? [null, null, null];
  return {
    ...{ policy: hexOf(policy), projectPolicy: hexOf(ofProject?.[0] ?? null), catalogue: hexOf(catalogue) },
    ...{ gates, country, cloudAct, carbon },
    ...{ requestSha256: hexOf(request), answerSha256: hexOf(answer) },
  };
}

/** A hexadecimal digest as the cell has it, quoted. */
export function digestCell(hex: string): string {
  return `"${Buffer.from(hex, 'hex').toString('base64url')}"`;
}

/** The hash of a body, as the cell has it. */
export function bodyHash(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'base64url');
}

const pieceMax = 256 * 1024;

/** Short texts of a stream are joined up to this length: a call of the hash costs as much as half a kilobyte of text. */
const joinedMax = 2 * 1024;

/**
 * Hashes the bytes of a stream as they are handed to the connection. Long texts are hashed in pieces, with a turn for other requests after
 * each: 8 MB take 30 ms and more on a processor without instructions for it.
 */
export class AnswerHash {
  /** Made with the first text, because most requests are not streamed. */
  private hash: Hash | null = null;
  /** Short texts that are not hashed yet. */
  private joined = '';
  /** Texts that wait for their turn. */
  private waiting: Latin1Text[] = [];
  private running: Promise<void> | null = null;
  private result: MaybePromise<string> | null = null;

  constructor(private readonly caller: { readonly gone: boolean }) {}

  /** Called before the text is sent. Nothing is sent to a caller that has left. */
  add(text: Latin1Text): void {
    if (this.caller.gone || text === '') return;
    this.hash ??= createHash('sha256');
    if (this.running === null && text.length <= pieceMax) {
      this.joined += text;
      if (this.joined.length >= joinedMax) this.takeJoined(this.hash);
      return;
    }
    this.takeJoined(this.hash);
    this.waiting.push(text);
    this.running ??= this.hashWaiting(this.hash);
  }

  /** The hash, with what is sent last; base64url. Nothing can be added afterwards. */
  end(text: Latin1Text | null): MaybePromise<string> {
    if (this.result === null) {
      if (text !== null) this.add(text);
      const hash = this.hash ?? createHash('sha256');
      this.takeJoined(hash);
      this.result = this.running ? this.running.then(() => hash.digest('base64url')) : hash.digest('base64url');
    }
    return this.result;
  }

  private takeJoined(hash: Hash): void {
    if (this.joined === '') return;
    hash.update(this.joined, 'latin1');
    this.joined = '';
  }

  private async hashWaiting(hash: Hash): Promise<void> {
    for (let text = this.waiting.shift(); text !== undefined; text = this.waiting.shift()) {
      await updateInPieces(text.length, (start, end) => hash.update(text.slice(start, end), 'latin1'));
    }
    this.running = null;
  }
}

/** The hash of an answer that is sent at once: its bytes, or the pieces of a large one. */
export function hashOfAnswer(body: Buffer | readonly Uint8Array[]): MaybePromise<string> {
  if (!Buffer.isBuffer(body)) return hashInPieces(body);
  return body.length <= pieceMax ? bodyHash(body) : hashInPieces([body]);
}

async function hashInPieces(all: readonly Uint8Array[]): Promise<string> {
  const hash = createHash('sha256');
  for (const bytes of all) {
    await updateInPieces(bytes.length, (start, end) => hash.update(bytes.subarray(start, end)));
  }
  return hash.digest('base64url');
}

async function updateInPieces(length: number, update: (start: number, end: number) => void): Promise<void> {
  for (let start = 0; start < length; start += pieceMax) {
    await new Promise(setImmediate);
    update(start, Math.min(start + pieceMax, length));
  }
}
