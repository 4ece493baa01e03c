/** The hashes of an append-only tree as RFC 6962 defines them, and the checks of its two kinds of proof. */
import { hash } from 'node:crypto';

export const hashBytes = 32;

const leafPrefix = Buffer.of(0);
const leafPrefixText = '\u0000';
const nodePrefix = 1;

/** The root of a tree without leaves. */
export const emptyRoot: Buffer = sha256(Buffer.alloc(0));

function sha256(bytes: Uint8Array): Buffer {
  return hash('sha256', bytes, 'buffer');
}

export function leafHash(bytes: Uint8Array | string): Buffer {
  if (typeof bytes === 'string') return hash('sha256', leafPrefixText + bytes, 'buffer');
  return sha256(Buffer.concat([leafPrefix, bytes]));
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
  if (hashes.length === 1) return hashes[0]!;
  const half = splitPoint(hashes.length);
  return nodeHash(rootOf(hashes.slice(0, half)), rootOf(hashes.slice(half)));
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
