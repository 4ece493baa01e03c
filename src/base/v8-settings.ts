/** Settings of V8 that suit a gateway: most objects live as long as a request, and its patterns are large. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * V8 allocates objects in the old part of the heap where many made at the same place have survived a collection. At the start, while
 * the young part is small, every request in flight survives, so V8 decides so for the objects of requests, and keeps to it. From then on
 * each request stays with all its text until a full collection. Without that decision they are freed by the next short one.
 */
export function keepRequestsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}

/** How far the old part of the heap grows beyond what a full collection has left in it, before the next one. */
const growthPercent = 50;

/**
 * V8 lets the old part grow to several times what is alive in it, because most programs keep what they promote. Here it is mostly the text of
 * streams that waited for a slow client or for the counter, with buffers outside of the heap, and all of it is garbage a moment later.
 * About 30 MB of it are alive under load (docs/decisions/0026-memory-bounds.md).
 */
export function collectOldEarly(): void {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`);
}

type Collect = (options?: { type: 'minor' }) => void;
let collectGarbage: Collect | null = null;

function collector(): Collect {
  if (collectGarbage === null) {
    setFlagsFromString('--expose-gc');
    collectGarbage = runInNewContext('gc') as Collect;
  }
  return collectGarbage;
}

/** A full collection at once, of the thread that asks. */
export function collectNow(): void {
  collector()();
}

/** A short collection at once, about a millisecond: it frees what was received and copied a moment ago. */
export function collectYoung(): void {
  collector()({ type: 'minor' });
}

/** Within this time what was large is mostly garbage: the client has read it. */
const collectAfterMs = 1_500;
let collection: NodeJS.Timeout | null = null;

/**
 * Has a full collection soon, after texts of megabytes went through: V8 would keep them until as much again is allocated. It takes about as
 * long as any other full collection, 10 to 60 ms, and however many ask for it, there is one.
 */
export function collectSoon(): void {
  if (collection !== null) return;
  collection = setTimeout(() => {
    collection = null;
    collectNow();
  }, collectAfterMs).unref();
}

/**
 * V8 first compiles a regular expression to bytecode, and to machine code when it is used again. Optimising the bytecode of the large
 * patterns that read upstream errors takes longer than everything else about them, and serves a single use. Leaving the bytecode out
 * (`--no-regexp-tier-up`) ends the process where a pattern was used before the setting.
 */
export function compilePatternsQuickly(): void {
  setFlagsFromString('--no-regexp-peephole-optimization');
}

/** V8 acts on what code that ran often does: this is often enough. */
const oftenEnough = 5_000;

/**
 * A class that extends String, as ioredis has one, makes V8 keep the methods of all strings in a table, and search it at each `charCodeAt`
 * of the whole program. Using a string that is an object brings them back for good, also before there is such a class.
 */
export function keepStringMethodsFast(): void {
  const text = Object('x') as string;
  for (let i = 0; i < oftenEnough; i++) text.charCodeAt(0);
}
