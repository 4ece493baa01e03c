import { describe, expect, it } from 'vitest';
import { zstdFault } from './zstd-frames.js';

/** `{"error":"queue full"}`, made by the zstd program. */
const real = Buffer.from('KLUv/QRYsQAAeyJlcnJvciI6InF1ZXVlIGZ1bGwifa9wLy4=', 'base64');
const magic = [0x28, 0xb5, 0x2f, 0xfd];
const lastBlock = [0x0b, 0x00, 0x00, 0x78];
const frame = (...header: number[]) => Buffer.from([...magic, ...header, ...lastBlock]);
const skippable = Buffer.from([0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);

describe('the frames of a zstd body', () => {
  it.each([
    ['one frame', real],
    ['two frames', Buffer.concat([real, real])],
    ['a frame to be skipped', Buffer.concat([skippable, real, skippable])],
    ['a window of 8 MiB', frame(0x00, 13 << 3)],
    ['one segment of 8 MiB', frame(0xa0, 0, 0, 0x80, 0)],
    ['a dictionary and a short size', frame(0x61, 9, 0, 0)],
    ['no bytes', Buffer.alloc(0)],
  ])('may be %s', (_, body) => expect(zstdFault(body)).toBeNull());

  it.each([
    ['a window over 8 MiB', frame(0x00, (13 << 3) | 1)],
    ['the largest window', frame(0x00, 0xff)],
    ['one segment over 8 MiB', frame(0xa0, 1, 0, 0x80, 0)],
    ['one segment of 2^63 bytes', frame(0xe0, 0, 0, 0, 0, 0, 0, 0, 0x80)],
    ['a second frame with a large window', Buffer.concat([real, frame(0x00, 0xa7)])],
  ])('must not need %s', (_, body) => expect(zstdFault(body)).toContain('8 MiB'));

  it.each([
    ['half a frame', real.subarray(0, real.length - 1)],
    ['half a header', real.subarray(0, 5)],
    ['half a magic number', real.subarray(0, 3)],
    ['plain JSON', Buffer.from('{"plain":"json"}')],
    ['a reserved bit', frame(0x08, 0x38)],
    ['a reserved block type', Buffer.from([...magic, 0, 0x38, 0x07, 0, 0, 0])],
    ['a block over 128 KiB', Buffer.from([...magic, 0, 0x38, 0x03 | 0x08, 0, 0x10, 0x78])],
    ['skipped bytes that are not there', skippable.subarray(0, 10)],
    ['bytes after the last frame', Buffer.concat([real, Buffer.from([1, 2, 3, 4, 5])])],
  ])('must not be %s', (_, body) => expect(zstdFault(body)).toBe('its compressed body is broken'));
});
