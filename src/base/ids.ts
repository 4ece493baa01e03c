/** Makes identifiers that are unguessable and ordered by time, so that an index on them only grows at its end. */
import { randomFillSync } from 'node:crypto';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const pool = Buffer.allocUnsafe(16 * 256);
let used = pool.length;

/** Drawn for many ids at once. */
function randomCharacters(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    for (let i = 0; i < pool.length; i++) pool[i] = alphabet.charCodeAt(pool[i]! & 31);
    used = 0;
  }
  used += 16;
  return pool.toString('latin1', used - 16, used);
}

let lastMs = -1;
let timePart = '';

/** 26 characters: 10 for the millisecond, 16 random (a ULID in lower case). */
export function timeOrderedId(nowMs: number): string {
  if (nowMs !== lastMs) {
    lastMs = nowMs;
    timePart = '';
    for (let rest = nowMs, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) timePart = alphabet[rest % 32] + timePart;
  }
  return timePart + randomCharacters();
}

/** Ids as `timeOrderedId` makes them. Those of one millisecond sort in the order in which they were made here. */
export class IdSequence {
  private lastMs = -1;
  private count = 0;

  next(nowMs: number): string {
    this.count = nowMs === this.lastMs ? (this.count + 1) % 32 ** 3 : 0;
    this.lastMs = nowMs;
    const id = timeOrderedId(nowMs);
    const place = [this.count >> 10, (this.count >> 5) & 31, this.count & 31].map((digit) => alphabet[digit]).join('');
    return id.slice(0, 10) + place + id.slice(13);
  }
}

/** At most as high as any id of that millisecond or later, and above every earlier id: a range of time is a range of ids. */
export function generationIdsFrom(ms: number): string {
  return `gen-${timeOrderedId(ms).slice(0, 10)}`;
}

export const generationId = (nowMs: number): string => `gen-${timeOrderedId(nowMs)}`;
export const requestId = (nowMs: number): string => `req-${timeOrderedId(nowMs)}`;

/** The millisecond at which a `gen-` or `req-` id was made; null for a text that is no such id. */
export function idTimeMs(id: string): number | null {
  const [, time] = /^(?:gen|req)-([0-9a-hjkmnp-tv-z]{10})[0-9a-hjkmnp-tv-z]{16}$/.exec(id) ?? [];
  return time === undefined ? null : [...time].reduce((ms, digit) => ms * 32 + alphabet.indexOf(digit), 0);
}

/** Whether a text has the form of such an id. */
export function isTimeOrderedId(text: string): boolean {
  return /^[0-9a-hjkmnp-tv-z]{26}$/.test(text);
}
