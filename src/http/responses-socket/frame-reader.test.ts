import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { beforeEach, expect, it } from 'vitest';
import { type FrameOwner, FrameReader, FrameTurns } from './frame-reader.js';

/** A masked frame with a mask of zeros. */
const frame = (first: number, payload: string | Buffer = '') => {
  const bytes = Buffer.from(payload);
  const length = bytes.length < 126 ? [0x80 | bytes.length] : [0x80 | 126, bytes.length >> 8, bytes.length & 255];
  return Buffer.concat([Buffer.from([first, ...length, 0, 0, 0, 0]), bytes]);
};
const pings = (count: number) => Buffer.alloc(count * 6, frame(0x89));
const turn = () => new Promise((resolve) => setImmediate(resolve));

let socket: Readable;
let reader: FrameReader;
let isOpen: boolean;
let counted: number[];
let answer: () => Promise<void>;
let steps: number[];
let messageBytes: number;
let binaries: number;
beforeEach(() => {
  isOpen = true;
  counted = [];
  answer = async () => {};
  steps = [];
  messageBytes = 0;
  binaries = 0;
  socket = new Readable({ read() {}, highWaterMark: 64 * 1024 });
  socket.on('data', (bytes: Buffer) => steps.push(bytes.length));
  const owner: FrameOwner = {
    get isOpen() {
      return isOpen;
    },
    bytesCame: (bytes) => {
      messageBytes += bytes;
    },
    binaryCame: () => void binaries++,
    framesHandled: () => {},
    countAsRequests: (frames) => {
      counted.push(frames);
      return answer();
    },
  };
  reader = new FrameReader(socket as Socket, owner, new FrameTurns());
});

async function receive(...pieces: Buffer[]): Promise<void> {
  for (const bytes of pieces) socket.push(bytes);
  await expect.poll(() => socket.readableLength).toBe(0);
}
const sum = (list: readonly number[]) => list.reduce((total, value) => total + value, 0);

it('frames are free up to a number, which is renewed each minute, and count beyond', async () => {
  await receive(pings(120));
  expect(counted).toEqual([]);
  await receive(pings(7));
  expect(counted).toEqual([7]);
  reader.sweep(performance.now() + 60_000);
  await receive(pings(120));
  expect(counted).toEqual([7]);
});

it('nothing is read while they are being counted', async () => {
  let tell: () => void = () => {};
  answer = () =>
    new Promise((resolve) => {
      tell = resolve;
    });
  socket.push(pings(1_000));
  await expect.poll(() => counted).toHaveLength(1);
  const left = socket.readableLength;
  socket.push(pings(1));
  await turn();
  expect(socket.readableLength).toBe(left + 6);
  answer = async () => {};
  tell();
  await expect.poll(() => socket.readableLength).toBe(0);
  expect(sum(counted)).toBe(1_001 - 120);
});

it('a few more are read where the connection is closed for them, and then no more', async () => {
  answer = async () => {
    isOpen = false;
  };
  socket.push(pings(5_000));
  await expect.poll(() => isOpen).toBe(false);
  for (let turns = 0; turns < 10; turns++) await turn();
  const read = 5_000 - socket.readableLength / 6;
  expect(read).toBeGreaterThan(240);
  expect(read).toBeLessThan(700);
  expect(counted).toHaveLength(1);
});

it('a turn of the event loop has room for some frames only', async () => {
  const messages = Buffer.alloc(8_000 * 6, frame(0x81));
  socket.push(messages);
  let turns = 0;
  for (; socket.readableLength > 0 && turns < 1_000; turns++) await turn();
  expect(turns).toBeGreaterThan(8_000 / (256 + 170) - 1);
  expect(Math.max(...steps)).toBe(1_024);
  expect(messageBytes).toBe(messages.length);
});

it('large parts of messages and the ends of messages do not count, small parts do', async () => {
  const large = Array.from({ length: 300 }, () => frame(0, Buffer.alloc(1_024)));
  await receive(frame(1, Buffer.alloc(1_024)), ...large, frame(0x80, 'x'));
  expect(counted).toEqual([]);
  await receive(frame(1, 'x'), ...Array.from({ length: 129 }, () => frame(0)), frame(0x80));
  expect(sum(counted)).toBe(10);
});

it('a long frame is given on in large pieces, wherever its head is cut', async () => {
  const long = frame(0x81, Buffer.alloc(60_000));
  for (let cut = 1; cut < 10; cut++) await receive(frame(0x89, 'x'), long.subarray(0, cut), long.subarray(cut));
  expect(Math.max(...steps)).toBeGreaterThan(50_000);
  expect(messageBytes).toBe(9 * long.length);
});

it('a long frame is unmasked while it arrives, wherever it is cut, and a short one is left to be', async () => {
  const given: Buffer[] = [];
  socket.on('data', (bytes: Buffer) => given.push(Buffer.from(bytes)));
  const mask = [0xa1, 0xb2, 0xc3, 0xd4];
  const text = Buffer.from(Array.from({ length: 70_001 }, (_, at) => at % 251));
  const masked = text.map((byte, at) => byte ^ mask[at % 4]!);
  const head = (bytes: number[]) => Buffer.from([0x81, 0x80 | 127, 0, 0, 0, 0, 0, 1, 0x11, 0x71, ...bytes]);
  const short = Buffer.from([0x81, 0x83, ...mask, 1, 2, 3]);
  for (const cuts of [
    [1, 11],
    [2, 12],
    [10, 13],
    [13, 14],
    [14, 15],
    [17, 40_001],
    [20_000, 65_551],
  ]) {
    given.length = 0;
    const sent = Buffer.concat([head(mask), masked, short]);
    await receive(sent.subarray(0, cuts[0]), sent.subarray(cuts[0]!, cuts[1]), sent.subarray(cuts[1]));
    expect(Buffer.concat(given).equals(Buffer.concat([head([0, 0, 0, 0]), text, short])), `cut at ${cuts}`).toBe(true);
  }
});

it('frames after a close are read no further than the free ones', async () => {
  isOpen = false;
  socket.push(Buffer.alloc(1_000 * 6, frame(0x81)));
  await turn();
  await turn();
  expect(socket.readableLength).toBeGreaterThan(4_000);
  expect(counted).toEqual([]);
});

it('a binary message is seen with its first frame', async () => {
  await receive(frame(0x81, 'x'));
  expect(binaries).toBe(0);
  await receive(frame(2, 'x'));
  expect(binaries).toBe(1);
});

it('what was not read when the connection is closed is never given on', async () => {
  answer = () => new Promise(() => {});
  socket.push(pings(1_000));
  await expect.poll(() => counted).toHaveLength(1);
  const before = sum(steps);
  socket.destroy();
  await expect.poll(() => socket.readableLength).toBe(0);
  expect(sum(steps)).toBe(before);
});
