/**
 * The o200k vocabulary: finds the rank of a token by its bytes, in a hash table over the file that the build makes
 * (`scripts/compile-vocabulary.mjs`). It takes 5 MB and some milliseconds to load, and only the counting thread loads it.
 */
import { readFileSync } from 'node:fs';

/** This file is three levels below the project, compiled or not. */
const file = readFileSync(new URL('../../../dist/billing/count/o200k.bin', import.meta.url));

const count = file.readUInt32LE(0);
const lengths = file.subarray(4, 4 + count);
const tokenBytes = file.subarray(4 + count);
const offsets = offsetsOf(lengths);
/** At least twice as many slots as tokens, so that a search ends after a few steps. */
const slotMask = 2 ** Math.ceil(Math.log2(count * 2)) - 1;
const slots = slotsOf();

/** More than any rank. */
export const noRank = 0x7fffffff;

/** The rank of the token that has exactly the bytes from `from` to `to`, or `noRank`. */
export function rankOf(bytes: Uint8Array, from: number, to: number): number {
  const length = to - from;
  for (let slot = hashOf(bytes, from, to) & slotMask; ; slot = (slot + 1) & slotMask) {
    const rank = slots[slot]! - 1;
    if (rank < 0) return noRank;
    if (lengths[rank] === length && hasBytes(rank, bytes, from, length)) return rank;
  }
}

function hasBytes(rank: number, bytes: Uint8Array, from: number, length: number): boolean {
  const at = offsets[rank]!;
  for (let index = 0; index < length; index++) if (tokenBytes[at + index] !== bytes[from + index]) return false;
  return true;
}

/** FNV-1a. The upper half is mixed in, because only the lower bits choose the slot. */
function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0x811c9dc5;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}

function offsetsOf(sizes: Uint8Array): Uint32Array {
  const result = new Uint32Array(sizes.length + 1);
  for (let rank = 0; rank < sizes.length; rank++) result[rank + 1] = result[rank]! + sizes[rank]!;
  return result;
}

function slotsOf(): Uint32Array {
  const table = new Uint32Array(slotMask + 1);
  for (let rank = 0; rank < count; rank++) {
    // A rank that no token has.
    if (lengths[rank] === 0) continue;
    let slot = hashOf(tokenBytes, offsets[rank]!, offsets[rank + 1]!) & slotMask;
    while (table[slot] !== 0) slot = (slot + 1) & slotMask;
    table[slot] = rank + 1;
  }
  return table;
}
