/** Writes small MaxMind DB files (format 2.0, records of 24 bits), so that a test decides what a database says. */
import { isIPv4 } from 'node:net';

export type MmdbValue = string | number | MmdbValue[] | { [name: string]: MmdbValue };

const marker = Buffer.from('abcdef4d61784d696e642e636f6d', 'hex');
const separator = Buffer.alloc(16);

type Node = [Slot, Slot];
type Slot = { node: Node } | { data: MmdbValue } | null;

/** A database of the given networks, such as `['203.0.113.0/24', { country_code: 'DE' }]`. */
export function mmdbOf(networks: readonly (readonly [string, MmdbValue])[], ipVersion: 4 | 6 = 6): Buffer {
  const root: Node = [null, null];
  for (const [cidr, data] of networks) insert(root, bitsOf(cidr, ipVersion), data);
  const nodes = flatten(root);
  const offsets = new Map<MmdbValue, number>();
  const data: Buffer[] = [];
  let length = 0;
  const tree = Buffer.alloc(nodes.length * 6);
  nodes.forEach((node, index) => {
    node.forEach((slot, side) => {
      let value = nodes.length;
      if (slot && 'node' in slot) value = nodes.indexOf(slot.node);
      else if (slot) {
        if (!offsets.has(slot.data)) {
          offsets.set(slot.data, length);
          data.push(encode(slot.data));
          length += data.at(-1)!.length;
        }
        value = nodes.length + separator.length + offsets.get(slot.data)!;
      }
      tree.writeUIntBE(value, index * 6 + side * 3, 3);
    });
  });
  const metadata = {
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_700_000_000,
    database_type: 'test',
    description: {},
    ip_version: ipVersion,
    languages: [],
    node_count: nodes.length,
    record_size: 24,
  };
  return Buffer.concat([tree, separator, ...data, marker, encode(metadata)]);
}

function insert(root: Node, bits: readonly number[], data: MmdbValue): void {
  let node = root;
  for (const bit of bits.slice(0, -1)) {
    const slot = node[bit as 0 | 1];
    const next: Node = slot && 'node' in slot ? slot.node : [slot, slot];
    node[bit as 0 | 1] = { node: next };
    node = next;
  }
  node[bits.at(-1) as 0 | 1] = { data };
}

function flatten(root: Node): Node[] {
  const nodes = [root];
  for (const node of nodes) for (const slot of node) if (slot && 'node' in slot) nodes.push(slot.node);
  return nodes;
}

function bitsOf(cidr: string, ipVersion: 4 | 6): number[] {
  const [address = '', length = ''] = cidr.split('/');
  const ipv4 = isIPv4(address);
  const bits = (ipv4 ? address.split('.').map((part) => Number(part)) : ipv6Bytes(address)).flatMap((byte) =>
    Array.from({ length: 8 }, (_, index) => (byte >> (7 - index)) & 1),
  );
  const padding: number[] = ipv4 && ipVersion === 6 ? Array(96).fill(0) : [];
  return [...padding, ...bits.slice(0, Number(length))];
}

function ipv6Bytes(address: string): number[] {
  const [left = '', right = ''] = address.split('::');
  const groupsOf = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const [head, tail] = [groupsOf(left), groupsOf(right)];
  const groups = [...head, ...Array(8 - head.length - tail.length).fill(0), ...tail];
  return groups.flatMap((group) => [group >> 8, group & 255]);
}

function encode(value: MmdbValue): Buffer {
  if (typeof value === 'string') return Buffer.concat([control(2, Buffer.byteLength(value)), Buffer.from(value)]);
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return Buffer.concat([control(6, 4), bytes]);
  }
  if (Array.isArray(value)) return Buffer.concat([control(11, value.length), ...value.map(encode)]);
  const entries = Object.entries(value).flatMap(([name, member]) => [encode(name), encode(member)]);
  return Buffer.concat([control(7, entries.length / 2), ...entries]);
}

/** Type and size; types over 7 are written in a second byte, sizes over 28 in another. */
function control(type: number, size: number): Buffer {
  const short = Math.min(size, 29);
  const bytes = type > 7 ? [short, type - 7] : [(type << 5) | short];
  return Buffer.from(size < 29 ? bytes : [...bytes, size - 29]);
}
