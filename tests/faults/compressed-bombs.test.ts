/** Decompression bombs: each is a 503, memory stays bounded, and no other client waits 250 ms. */
import { readFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SpawnedGateway } from '../support/gateway.js';
import * as up from '../support/scripted-upstream.js';
import { type CoTenant, expectUnharmed, measured, startCoTenant } from './co-tenant.js';
import {
  ask,
  expectBooks,
  expectError,
  expectServes,
  full,
  pause,
  providerError,
  type Rig,
  spawnRig,
} from './fixture.js';

const mebibyte = 1024 * 1024;
const cap = 32 * mebibyte;
/** What the sockets on both sides may hold beyond what the gateway has read. */
const inSockets = 8 * mebibyte;

let rig: Rig<SpawnedGateway>;
let coTenant: CoTenant;
let watch: () => void;
beforeAll(async () => {
  coTenant = await startCoTenant();
  rig = await spawnRig({
    providers: { co: coTenant.url },
    config: { breaker: { failures: 1000 } },
  });
  const { key } = await rig.gateway.createAccount({ credit: '1000.00' });
  watch = () =>
    coTenant.start({ url: rig.gateway.url, key, model: 'co/meta/llama-3.3-70b/defra', pid: rig.gateway.pid });
  watch();
  await pause(500);
  await coTenant.finish();
}, 180_000);
afterAll(async () => {
  await rig.stop();
  await coTenant.close();
});
const whole = (bytes: Buffer, encoding: string) => up.encodedBytes(bytes, encoding);

/** Sends a beginning, and then the same piece until the gateway disconnects. */
function endless(encoding: string, beginning: Buffer, piece: Buffer): up.Script {
  return async (exchange) => {
    await exchange.write(
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: ${encoding}\r\ntransfer-encoding: chunked\r\n\r\n`,
    );
    await exchange.writeChunk(beginning);
    while (!exchange.call.aborted && exchange.call.bytesWritten < 4 * cap) await exchange.writeChunk(piece);
    await exchange.closed;
  };
}

const zstdMagic = [0x28, 0xb5, 0x2f, 0xfd];

function block(type: number, size: number, isLast: boolean): Buffer {
  const header = Buffer.alloc(3);
  header.writeUIntLE((size << 3) | (type << 1) | (isLast ? 1 : 0), 0, 3);
  return header;
}

const repeated = (count: number) =>
  Buffer.concat(
    Array.from({ length: count }, (_, at) => Buffer.concat([block(1, 128 * 1024, at === count - 1), Buffer.from('x')])),
  );

/** A block of sequences that each copy 131,074 bytes, far beyond what a block may hold. */
function greedySequences(): Buffer {
  const count = 60_000;
  const sequences = Buffer.from([255, (count - 0x7f00) & 255, (count - 0x7f00) >> 8, 0x54, 0, 0, 52]);
  const bits = Buffer.concat([Buffer.alloc(count * 2, 0xff), Buffer.from([1])]);
  const content = Buffer.concat([Buffer.from([1 << 3, 0x78]), sequences, bits]);
  return Buffer.concat([Buffer.from([...zstdMagic, 0, 0x38]), block(2, content.length, true), content]);
}

const zeros = Buffer.alloc(cap + mebibyte);
const gzipHead = (flags: number) => Buffer.from([0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 3]);
const letters = Buffer.alloc(64 * 1024, 'x');
const emptyMembers = Buffer.concat(Array.from({ length: 3_000 }, () => gzipSync('')));
const skippable = Buffer.concat([Buffer.from([0x50, 0x2a, 0x4d, 0x18, 0xf8, 0xff, 0, 0]), Buffer.alloc(0xfff8)]);

const bombs: [string, () => up.Script][] = [
  [
    'zstd of 46 bytes with a window of nearly 2 GiB',
    () => whole(Buffer.concat([Buffer.from([...zstdMagic, 0, 0xa7]), repeated(10)]), 'zstd'),
  ],
  ['zstd whose sequences copy without end', () => whole(greedySequences(), 'zstd')],
  ['gzip of empty members without end', () => endless('gzip', gzipSync(''), emptyMembers)],
  ['gzip that grows past the cap', () => whole(gzipSync(zeros), 'gzip')],
  [
    'brotli that grows past the cap',
    () => whole(brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }), 'br'),
  ],
  [
    'two codings in two headers',
    () =>
      up.rawBytes(['HTTP/1.1 200 OK\r\ncontent-encoding: br\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}']),
  ],
];
// With LODESTONE_FULL=1 alone: they grow or never end like the others, and are cut off in the same places.
if (full)
  bombs.push(
    [
      'zstd that grows past the cap',
      () => whole(Buffer.concat([Buffer.from([...zstdMagic, 0, 0x38]), repeated(1_000)]), 'zstd'),
    ],
    ['gzip with an endless file name', () => endless('gzip', gzipHead(0x08), letters)],
    ['zstd of endless frames to be skipped', () => endless('zstd', Buffer.from(skippable), Buffer.from(skippable))],
    ['gzip with endless padding', () => endless('gzip', gzipSync('{}'), Buffer.alloc(64 * 1024))],
  );

const rssMb = (): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${rig.gateway.pid}/status`, 'utf8'))?.[1]) / 1024;

it.each(bombs)('%s is a 503, and a co-tenant never waits 250 ms', measured, async (_, make) => {
  const account = await rig.gateway.createAccount();
  rig.upstream.reset();
  rig.upstream.reply(make());
  const before = rssMb();
  watch();
  const reply = await rig.gateway.chat(ask(), { key: account.key });
  const [call] = rig.upstream.calls;
  await rig.upstream.waitFor(() => call!.finished || call!.closedAt !== null);
  await pause(150);
  const delays = await coTenant.finish();
  expect(expectError(reply, providerError)).toContain('acme');
  expectUnharmed(delays, { max: 250 });
  expect(call!.bytesWritten).toBeLessThan(cap + inSockets);
  expect(rssMb() - before).toBeLessThan(160);
  await expectBooks(rig.gateway, account, { records: 1, costs: [] });
});

it('compressed bombs leave the gateway serving', () => expectServes(rig));
