/** Makes identifiers that are unguessable and ordered by time, so that an index on them only grows at its end. */
import { randomFillSync } from 'node:crypto';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const prefixLength = 4;
const timeLength = 10;
const randomLength = 16;
const slotLength = prefixLength + timeLength + randomLength;
/** Places for ids, whose random parts are drawn for many at once. */
const pool = Buffer.allocUnsafe(slotLength * 256);
let next = pool.length;
let lastMs = -1;
const timeBytes = new Uint8Array(timeLength);

/** Fills the next place, but for its prefix. Ids are cut out of it in one piece: V8 reads a text that was put together slowly. */
function takeSlot(nowMs: number): number {
  if (next === pool.length) {
    randomFillSync(pool);
    for (let i = 0; i < pool.length; i++) pool[i] = alphabet.charCodeAt(pool[i]! & 31);
    next = 0;
  }
  if (nowMs !== lastMs) {
    lastMs = nowMs;
    for (let rest = nowMs, i = timeLength - 1; i >= 0; i--, rest = Math.floor(rest / 32))
      timeBytes[i] = alphabet.charCodeAt(rest % 32);
  }
  const start = next;
  next += slotLength;
  pool.set(timeBytes, start + prefixLength);
  return start;
}

/** 26 characters: 10 for the millisecond, 16 random (a ULID in lower case). */
export function timeOrderedId(nowMs: number): string {
  const start = takeSlot(nowMs);
  return pool.toString('latin1', start + prefixLength, start + slotLength);
}

function idWith(prefix: string, nowMs: number): string {
  const start = takeSlot(nowMs);
  for (let i = 0; i < prefixLength; i++) pool[start + i] = prefix.charCodeAt(i);
  return pool.toString('latin1', start, start + slotLength);
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

export const generationId = (nowMs: number): string => idWith('gen-', nowMs);
export const requestId = (nowMs: number): string => idWith('req-', nowMs);

/** The millisecond at which a `gen-` or `req-` id was made; null for a text that is no such id. */
export function idTimeMs(id: string): number | null {
  const [, time] = /^(?:gen|req)-([0-9a-hjkmnp-tv-z]{10})[0-9a-hjkmnp-tv-z]{16}$/.exec(id) ?? [];
  return time === undefined ? null : [...time].reduce((ms, digit) => ms * 32 + alphabet.indexOf(digit), 0);
}

/** Whether a text has the form of such an id. */
export function isTimeOrderedId(text: string): boolean {
  return /^[0-9a-hjkmnp-tv-z]{26}$/.test(text);
}
