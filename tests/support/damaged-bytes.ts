/** Damages a body as a property test of a scanner needs it. */
import type { SeededRandom } from './seeded-random.js';

/** A byte changed, removed or added, or the end cut off. */
export function damaged(random: SeededRandom, body: Buffer): Buffer {
  const at = random.below(body.length + 1);
  const byte = Buffer.from([
    random.chance(0.3) ? random.below(256) : random.pick([...Buffer.from('"\\{}[],:0-.eEtfn \n')]),
  ]);
  const kind = random.below(4);
  if (kind === 0) return body.subarray(0, at);
  return Buffer.concat([
    body.subarray(0, at),
    kind === 1 ? Buffer.alloc(0) : byte,
    body.subarray(kind === 3 ? at : at + 1),
  ]);
}
