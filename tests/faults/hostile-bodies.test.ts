/**
 * Bodies that are made to be hard: answers of an upstream that grow or never end when they are decompressed, and requests of nearly 32 MiB
 * for the parser. Each is answered, memory stays bounded, and no other caller waits for more than 250 ms.
 */
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { measuredTime } from '../support/measured-time.js';
import * as up from '../support/scripted-upstream.js';
import { type CoTenantRig, expectUnharmed, measured, startCoTenantRig } from './co-tenant.js';
import { ask, expectBooks, expectError, expectServes, full, pause, pin, providerError, scaled } from './fixture.js';

const mebibyte = 1024 * 1024;
const cap = 32 * mebibyte;
/** What the sockets on both sides may hold beyond what the gateway has read. */
const inSockets = 8 * mebibyte;

let rig: CoTenantRig;
let sender: Worker;
beforeAll(async () => {
  sender = new Worker(new URL('./hostile-sender.mjs', import.meta.url));
  rig = await startCoTenantRig({ config: { breaker: { failures: 1000 } } });
}, 180_000);
afterAll(async () => {
  await rig?.stop();
  await sender.terminate();
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

// First, as they look at the highest memory that the gateway ever had.
describe('decompression bombs', () => {
  it.each(bombs)('%s is a 503, and a co-tenant never waits 250 ms', measured, async (_, make) => {
    const account = await rig.gateway.createAccount();
    rig.upstream.reset();
    rig.upstream.reply(make());
    const before = rssMb();
    rig.watch();
    const reply = await rig.gateway.chat(ask(), { key: account.key });
    const [call] = rig.upstream.calls;
    await rig.upstream.waitFor(() => call!.finished || call!.closedAt !== null);
    await pause(150);
    const delays = await rig.coTenant.finish();
    expect(expectError(reply, providerError)).toContain('acme');
    expectUnharmed(delays, { max: 250 });
    expect(call!.bytesWritten).toBeLessThan(cap + inSockets);
    expect(rssMb() - before).toBeLessThan(160);
    await expectBooks(rig.gateway, account, { records: 1, costs: [] });
  });

  it('compressed bombs leave the gateway serving', () => expectServes(rig));
});

interface Sent {
  status: number;
  text: string;
  ms: number;
}

const reply = <Message>() => new Promise<Message>((resolve) => sender.once('message', resolve));

/** What is put into the place `@` of a chat request. */
interface Hostile {
  readonly field?: string;
  readonly shape?: string;
  readonly repeated?: string;
}

/** In a field that is passed on as it is, unless another one is named. */
async function make({
  field = '"messages":[{"role":"user","content":"hi"}],"x":@',
  ...value
}: Hostile): Promise<number> {
  sender.postMessage({ make: { template: `{"model":"${pin}",${field}}`, bytes: cap - 64, ...value } });
  return (await reply<{ bytes: number }>()).bytes;
}

function post(headers: Record<string, string>, count: number): Promise<Sent[]> {
  sender.postMessage({ post: { url: rig.gateway.url, headers, count } });
  return reply<Sent[]>();
}

const inMessages = '"messages":[@{"role":"user","content":"a"}]';
const shapes: [string, number, Hostile][] = [
  ['deep nesting', 400, { shape: 'deep arrays' }],
  ['tiny numbers', 200, { shape: 'tiny numbers' }],
];
if (full)
  shapes.push(
    ['one string of escapes', 200, { shape: 'one text of escapes' }],
    ['messages', 200, { field: inMessages, repeated: '{"role":"user","content":"a"},' }],
    ['empty arrays', 200, { shape: 'empty arrays' }],
    ['keys', 200, { shape: 'members' }],
    ['deep nesting of objects', 400, { shape: 'deep objects' }],
    ['empty objects in messages', 400, { field: inMessages, repeated: '{},' }],
  );

/** An ordinary request, written once. */
const page = JSON.stringify(ask({ messages: [{ role: 'user', content: 'An ordinary page. '.repeat(17_000) }] }));

it.each(shapes)(
  '32 MiB of %s are answered with %i, a co-tenant never waits 250 ms, and an ordinary request of 300 KB does not wait for a hostile one either',
  measured,
  async (shape, wanted, hostile) => {
    expect(await make(hostile)).toBeGreaterThan(33_000_000);
    const { key } = await rig.gateway.account();
    const other = await rig.gateway.createAccount();
    rig.upstream.reset();
    const alone = await timed(() => rig.gateway.chat(page, { key: other.key }));
    rig.upstream.reset();
    rig.watch();
    const posted = post({ authorization: `Bearer ${key}` }, 1);
    await pause(400);
    const beside = await timed(() => rig.gateway.chat(page, { key: other.key }));
    const [sent] = await posted;
    const delays = await rig.coTenant.finish();
    console.log(
      `Hostile body, ${shape}: ${sent!.status} after ${sent!.ms.toFixed(0)} ms; co-tenant p99 ${delays.p99.toFixed(0)}, max ${delays.max.toFixed(0)} (measured ${delays.measuredMax.toFixed(0)}) ms; 300 KB: alone ${alone.toFixed(0)} ms, beside ${beside.toFixed(0)} ms`,
    );
    expect([sent!.status, sent!.status === wanted || sent!.text]).toEqual([wanted, true]);
    const asked = rig.upstream.calls.filter(({ body }) => body.length > page.length + mebibyte);
    expect(asked).toHaveLength(wanted === 200 ? 1 : 0);
    expectUnharmed(delays, { max: 250 });
    expect(beside, measuredTime).toBeLessThan(alone * 4 + 250);
    await expectServes(rig);
  },
);

async function timed(send: () => Promise<{ status: number }>): Promise<number> {
  const startedAt = performance.now();
  expect((await send()).status).toBe(200);
  return performance.now() - startedAt;
}

const parallel = scaled(3, 20);

it(
  `${parallel} parallel posts of 32 MB without a key are all 401, unparsed, and a co-tenant never waits 250 ms`,
  measured,
  async () => {
    await make({ shape: 'one text of escapes' });
    rig.upstream.reset();
    rig.watch();
    const sent = await post({}, parallel);
    const wrong = await post({ authorization: `Bearer sk-lr-${'A'.repeat(43)}` }, parallel);
    const delays = await rig.coTenant.finish();
    console.log(
      `co-tenant p99 ${delays.p99.toFixed(0)}, max ${delays.max.toFixed(0)} (measured ${delays.measuredMax.toFixed(0)}) ms`,
    );
    expect(sent.map(({ status, text }) => [status, JSON.parse(text).error.code])).toEqual(
      sent.map(() => [401, 'authentication_error']),
    );
    expect(wrong.map(({ status, text }) => [status, JSON.parse(text).error.code])).toEqual(
      wrong.map(() => [401, 'api_key_not_registered']),
    );
    expect(rig.upstream.calls).toHaveLength(0);
    expectUnharmed(delays, { max: 250 });
    expect((await rig.gateway.chat(ask())).status).toBe(200);
  },
);
