/**
 * The hashes of a tree in tiles of 256, as C2SP tlog-tiles lays them out: a tile of level L has the roots of complete subtrees of 256^L
 * leaves. A tile that is not full yet is a beginning of the full one, so each is kept once.
 */
import { emptyRoot, hashBytes, nodeHash, rootOf, splitPoint } from './merkle.js';

export const tileWidth = 256;
const tileHeight = 8;

export interface TilePlace {
  readonly level: number;
  readonly index: number;
}

export interface TileRequest extends TilePlace {
  /** How many hashes are asked for. */
  readonly width: number;
}

/** The hashes of a tile, one after the other; at least as many as a tree of the size in question has there. */
export type ReadTile = (place: TilePlace) => Promise<Buffer>;

/** `x001/x234/067` for 1234067. */
export function tileIndexText(index: number): string {
  const groups: string[] = [];
  for (let rest = index; groups.length === 0 || rest > 0; rest = Math.floor(rest / 1000)) {
    groups.unshift(String(rest % 1000).padStart(3, '0'));
  }
  return groups.map((group, i) => (i === groups.length - 1 ? group : `x${group}`)).join('/');
}

export function tilePath({ level, index, width }: TileRequest): string {
  return `tile/${level}/${tileIndexText(index)}${width === tileWidth ? '' : `.p/${width}`}`;
}

const levelsMax = 6;
const pathForm = /^(0|[1-9]\d?)\/((?:x\d{3}\/){0,4}\d{3})(?:\.p\/([1-9]\d{0,2}))?$/;

/** Reads what follows `tile/`; null where it is not written as the layout asks for. */
export function readTilePath(text: string): TileRequest | null {
  const [, level, groups, part] = pathForm.exec(text) ?? [];
  if (level === undefined || groups === undefined) return null;
  const width = part === undefined ? tileWidth : Number(part);
  const index = Number(groups.replaceAll(/[x/]/g, ''));
  const isCanonical = tileIndexText(index) === groups && (part === undefined || width < tileWidth);
  return isCanonical && Number(level) < levelsMax ? { level: Number(level), index, width } : null;
}

/** How many complete subtrees of a tile's level a tree has. */
function countAt(size: number, level: number): number {
  return Math.floor(size / tileWidth ** level);
}

/** How many hashes of a tile a tree has; 0 where it has none of it. */
export function widthIn(size: number, { level, index }: TilePlace): number {
  return Math.max(0, Math.min(tileWidth, countAt(size, level) - index * tileWidth));
}

/** The tiles at the right edge of a tree, which the next leaf goes into or whose hashes the root is made of. */
export function edgeTiles(size: number): TilePlace[] {
  const places: TilePlace[] = [];
  for (let level = 0; level === 0 || countAt(size, level) > 0; level++) {
    places.push({ level, index: Math.floor(countAt(size, level) / tileWidth) });
  }
  return places;
}

export interface ChangedTile extends TilePlace {
  readonly hashes: Buffer;
}

/** The right edge of a tree, to which leaves are added. */
export class TreeEdge {
  /** By level: the hashes of the tile that is not full. */
  private readonly levels: Buffer[][];
  private readonly full: ChangedTile[] = [];

  /** `hashes` are those of `edgeTiles(size)`. */
  constructor(
    public size: number,
    hashes: readonly Buffer[],
  ) {
    this.levels = hashes.map((tile, level) =>
      hashesIn(tile).slice(0, widthIn(size, edgeTiles(size)[level] ?? { level, index: 0 })),
    );
  }

  add(leaf: Buffer): void {
    this.size++;
    this.addAt(0, leaf);
  }

  private addAt(level: number, hash: Buffer): void {
    this.levels[level] ??= [];
    const tile = this.levels[level];
    tile.push(hash);
    if (tile.length < tileWidth) return;
    this.full.push({ level, index: countAt(this.size, level) / tileWidth - 1, hashes: Buffer.concat(tile) });
    this.levels[level] = [];
    this.addAt(level + 1, rootOf(tile));
  }

  root(): Buffer {
    return rootOfEdge(this.levels);
  }

  /** The tiles that are new or longer than before. */
  changed(): ChangedTile[] {
    const open = this.levels.map((tile, level) => ({
      level,
      index: Math.floor(countAt(this.size, level) / tileWidth),
      hashes: Buffer.concat(tile),
    }));
    return [...this.full, ...open.filter(({ hashes }) => hashes.length > 0)];
  }
}

/** From the lowest level up: what is left over of a level is the last, incomplete subtree of the next. */
function rootOfEdge(levels: readonly (readonly Buffer[])[]): Buffer {
  let rest: Buffer | null = null;
  for (const tile of levels) {
    const hashes: readonly Buffer[] = rest === null ? tile : [...tile, rest];
    if (hashes.length > 0) rest = rootOf(hashes);
  }
  return rest ?? emptyRoot;
}

export function hashesIn(tile: Buffer): Buffer[] {
  return Array.from({ length: Math.floor(tile.length / hashBytes) }, (_, i) =>
    tile.subarray(i * hashBytes, (i + 1) * hashBytes),
  );
}

/** The root that the tree had when it was `size` leaves long. */
export async function rootAt(read: ReadTile, size: number): Promise<Buffer> {
  return size === 0 ? emptyRoot : rangeHash(read, 0, size);
}

/** The inclusion path of a leaf in a tree of `size` leaves, from the leaf to the root. */
export async function inclusionPath(read: ReadTile, leafIndex: number, size: number): Promise<Buffer[]> {
  const path: Buffer[] = [];
  let [from, to] = [0, size];
  while (to - from > 1) {
    const middle = from + splitPoint(to - from);
    const isLeft = leafIndex < middle;
    path.unshift(await (isLeft ? rangeHash(read, middle, to) : rangeHash(read, from, middle)));
    if (isLeft) to = middle;
    else from = middle;
  }
  return path;
}

/** The hash over the leaves from `from` to before `to`, a range that the tree's own divisions make. */
async function rangeHash(read: ReadTile, from: number, to: number): Promise<Buffer> {
  const count = to - from;
  const height = Math.log2(count);
  if (Number.isInteger(height)) return subtreeHash(read, height, from / count);
  const half = splitPoint(count);
  return nodeHash(await rangeHash(read, from, from + half), await rangeHash(read, from + half, to));
}

/** The root of a complete subtree. */
async function subtreeHash(read: ReadTile, height: number, index: number): Promise<Buffer> {
  const level = Math.floor(height / tileHeight);
  const width = 2 ** (height % tileHeight);
  const first = index * width;
  const tile = await read({ level, index: Math.floor(first / tileWidth) });
  const at = first % tileWidth;
  const hashes = hashesIn(tile).slice(at, at + width);
  if (hashes.length < width) throw new RangeError(`The tile of level ${level} lacks hashes.`);
  return rootOf(hashes);
}
