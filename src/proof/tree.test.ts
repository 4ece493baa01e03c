import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../tests/support/seeded-random.js';
import { emptyRoot, leafHash, nodeHash, rootOf, rootOfPath } from './merkle.js';
import {
  edgeTiles,
  inclusionPath,
  type ReadTile,
  readTilePath,
  rootAt,
  TreeEdge,
  tileIndexText,
  tilePath,
  widthIn,
} from './tiles.js';

const hex = (bytes: Buffer) => bytes.toString('hex');
const leaf = (n: number) => leafHash(`leaf ${n}`);

/** The leaves of the test vectors that implementations of RFC 6962 share. */
const inputs = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
const roots = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

/** A tree that is grown in batches, as the sealer does it, and whose tiles can be read. */
class GrownTree {
  size = 0;
  root = emptyRoot;
  private readonly tiles = new Map<string, Buffer>();
  readonly read: ReadTile = async ({ level, index }) => this.tiles.get(`${level}/${index}`) ?? Buffer.alloc(0);

  async grow(leaves: readonly Buffer[]): Promise<void> {
    const edge = new TreeEdge(this.size, await Promise.all(edgeTiles(this.size).map(this.read)));
    expect(hex(edge.root())).toBe(hex(this.root));
    for (const each of leaves) edge.add(each);
    for (const { level, index, hashes } of edge.changed()) this.tiles.set(`${level}/${index}`, hashes);
    this.size = edge.size;
    this.root = edge.root();
  }

  widths(): string[] {
    return [...this.tiles].map(([place, hashes]) => `${place}:${hashes.length / 32}`).sort();
  }
}

describe('the tree', () => {
  it('has the roots of the known vectors', () => {
    const leaves = inputs.map((input) => leafHash(Buffer.from(input, 'hex')));
    expect(roots.map((_, i) => hex(rootOf(leaves.slice(0, i + 1))))).toEqual(roots);
    expect(hex(emptyRoot)).toBe(createHash('sha256').update('').digest('hex'));
  });

  it('is the same however it is grown, and proves each leaf at each size', async () => {
    const leaves = Array.from({ length: 700 }, (_, n) => leaf(n));
    for (let seed = 1; seed <= 6; seed++) {
      const random = new SeededRandom(seed);
      const tree = new GrownTree();
      const seen: { size: number; root: Buffer }[] = [];
      while (tree.size < leaves.length) {
        const to = Math.min(leaves.length, tree.size + 1 + random.below(random.below(2) === 0 ? 3 : 300));
        await tree.grow(leaves.slice(tree.size, to));
        seen.push({ size: tree.size, root: tree.root });
        expect(hex(tree.root)).toBe(hex(rootOf(leaves.slice(0, to))));
      }
      for (const { size, root } of seen) {
        expect(hex(await rootAt(tree.read, size))).toBe(hex(root));
        const leafIndex = random.below(size);
        const path = await inclusionPath(tree.read, leafIndex, size);
        const claim = { leafIndex, treeSize: size, leaf: leaves[leafIndex]!, path };
        expect(rootOfPath(claim)?.equals(root)).toBe(true);
        expect(rootOfPath({ ...claim, leafIndex: (leafIndex + 1) % size })?.equals(root) ?? false).toBe(size === 1);
        expect(rootOfPath({ ...claim, path: path.slice(1) })?.equals(root) ?? false).toBe(path.length === 0);
        expect(rootOfPath({ ...claim, path: [...path, leaf(1)] })).toBeNull();
      }
    }
  });

  it('keeps its hashes in tiles of 256', async () => {
    const tree = new GrownTree();
    await tree.grow(Array.from({ length: 256 * 3 + 3 }, (_, n) => leaf(n)));
    expect(tree.widths()).toEqual(['0/0:256', '0/1:256', '0/2:256', '0/3:3', '1/0:3']);
    expect(widthIn(tree.size, { level: 0, index: 3 })).toBe(3);
    expect(widthIn(tree.size, { level: 1, index: 1 })).toBe(0);
    expect(hex(await rootAt(tree.read, 512))).toBe(
      hex(nodeHash(await rootAt(tree.read, 256), rootOf(await hashes(tree.read, 1)))),
    );
  });
});

async function hashes(read: ReadTile, index: number): Promise<Buffer[]> {
  const tile = await read({ level: 0, index });
  return Array.from({ length: tile.length / 32 }, (_, i) => tile.subarray(i * 32, i * 32 + 32));
}

describe('the path of a tile', () => {
  it.each([
    [{ level: 0, index: 0, width: 256 }, '0/000'],
    [{ level: 0, index: 1_234_067, width: 256 }, '0/x001/x234/067'],
    [{ level: 3, index: 999, width: 12 }, '3/999.p/12'],
    [{ level: 1, index: 1000, width: 255 }, '1/x001/000.p/255'],
  ])('%j is %s', (place, path) => {
    expect(tilePath(place)).toBe(`tile/${path}`);
    expect(readTilePath(path)).toEqual(place);
  });

  it.each([
    ...['', '0', '0/0', '0/00', '0/0000', '0/x000/001', '00/000', '0/000.p/256', '0/000.p/0', '0/000.p/01', '0/x001'],
    ...['7/000', '-1/000', '0/../000', '0/000/', '0/000.p/', '0/1e3', 'data/000', '0/x001/234/567'],
  ])('is not %j', (path) => {
    expect(readTilePath(path)).toBeNull();
  });

  it('has one form for each number', () => {
    expect([0, 7, 999, 1000, 123_456_789].map(tileIndexText)).toEqual([
      '000',
      '007',
      '999',
      'x001/000',
      'x123/x456/789',
    ]);
  });
});
