/** The hashes of an append-only tree as RFC 6962 defines them, and the checks of its two kinds of proof. */
import { hash } from 'node:crypto';

export const hashBytes = 32;

const leafPrefix = Buffer.of(0);
const leafPrefixText = '\u0000';
const nodePrefix = 1;

/** The root of a tree without leaves. */
export const emptyRoot: Buffer = sha256(Buffer.alloc(0));

/** A text of one character a byte is the cheapest form: a buffer that the hash makes itself has memory of its own and takes twice as long. */
function sha256(bytes: Uint8Array | string): Buffer {
  return Buffer.from(hash('sha256', bytes, 'binary'), 'latin1');
}

export function leafHash(bytes: Uint8Array | string): Buffer {
  return sha256(typeof bytes === 'string' ? leafPrefixText + bytes : Buffer.concat([leafPrefix, bytes]));
}

/** The same in hexadecimal. */
export function leafHashHex(text: string): string {
  return hash('sha256', leafPrefixText + text, 'hex');
}

/** Filled anew for each node: a hash is taken of all of it at once. */
const node = Buffer.alloc(1 + 2 * hashBytes, nodePrefix);

export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  node.set(left, 1);
  node.set(right, 1 + hashBytes);
  return sha256(node);
}

/** The largest power of two below `count`, which is at least 2. */
export function splitPoint(count: number): number {
  let half = 1;
  while (half * 2 < count) half *= 2;
  return half;
}

/** The root over hashes of leaves, or of complete subtrees of one height of which the last may be incomplete. */
export function rootOf(hashes: readonly Buffer[]): Buffer {
  if (hashes.length === 0) return emptyRoot;
  // Level by level in one buffer: the hash of a pair takes the place of its first half, and one without a neighbour goes up as it is.
  const level = Buffer.concat(hashes);
  for (let count = hashes.length; count > 1; count = Math.ceil(count / 2)) {
    for (let at = 0; at < count; at += 2) {
      const [from, to] = [at * hashBytes, (at / 2) * hashBytes];
      if (at === count - 1) level.copyWithin(to, from, from + hashBytes);
      else {
        level.copy(node, 1, from, from + 2 * hashBytes);
        level.write(hash('sha256', node, 'binary'), to, 'latin1');
      }
    }
  }
  return level.subarray(0, hashBytes);
}

interface Inclusion {
  readonly leafIndex: number;
  readonly treeSize: number;
  readonly leaf: Buffer;
  readonly path: readonly Buffer[];
}

/** The root that an inclusion path leads to; null where the path has not the length that the tree asks for. */
export function rootOfPath({ leafIndex, treeSize, leaf, path }: Inclusion): Buffer | null {
  if (leafIndex < 0 || leafIndex >= treeSize) return null;
  let at = leafIndex;
  let last = treeSize - 1;
  let hash = leaf;
  for (const sibling of path) {
    if (last === 0) return null;
    if (at % 2 === 1 || at === last) {
      hash = nodeHash(sibling, hash);
      while (at % 2 === 0 && at !== 0) {
        at = Math.floor(at / 2);
        last = Math.floor(last / 2);
      }
    } else {
      hash = nodeHash(hash, sibling);
    }
    at = Math.floor(at / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 ? hash : null;
}
