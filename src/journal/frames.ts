/**
 * Frames, in which records stand one after the other: a sync word (4 bytes), the size of the content (u32), its CRC-32 (u32), the content.
 * Numbers are little endian. Zeros follow the last frame: space that was only allocated. A reader that meets anything else goes on at the
 * next frame that is whole.
 */
import { crc32 } from 'node:zlib';

/** 0xF5 and 0xFA are in no UTF-8 text. */
const syncWord = Buffer.from([0xf5, 0x4c, 0x4a, 0xfa]);
const syncNumber = syncWord.readUInt32LE(0);
/** The bytes of a frame before its content. */
export const frameBytes = 12;

/** Writes what stands before the content. */
export function closeFrame(bytes: Buffer, start: number, end: number): void {
  bytes.writeUInt32LE(syncNumber, start);
  bytes.writeUInt32LE(end - start - frameBytes, start + 4);
  bytes.writeUInt32LE(crc32(bytes.subarray(start + frameBytes, end)), start + 8);
}

/** The end of the whole, undamaged frame that begins there; -1 where there is none. */
function frameEnd(bytes: Buffer, start: number): number {
  const content = start + frameBytes;
  if (content >= bytes.length || bytes.readUInt32LE(start) !== syncNumber) return -1;
  const end = content + bytes.readUInt32LE(start + 4);
  if (end > bytes.length || end === content) return -1;
  return crc32(bytes.subarray(content, end)) === bytes.readUInt32LE(start + 8) ? end : -1;
}

/** The start of the next undamaged frame; -1 where there is none. */
function nextFrame(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(syncWord, from); at !== -1; at = bytes.indexOf(syncWord, at + 1))
    if (frameEnd(bytes, at) !== -1) return at;
  return -1;
}

export interface FrameTaker {
  /** An undamaged frame. False: stop before it. */
  take(start: number, end: number): boolean;
  /** Bytes that are no frame, before one that is, or at the end. False: stop before them. */
  damaged(start: number, end: number): boolean;
}

/**
 * Hands over frame after frame. `whole`: no bytes will follow these; `full`: nor were any only allocated, so zeros at the end are damage
 * too. Returns where it stopped.
 */
export function scanFrames(bytes: Buffer, whole: boolean, taker: FrameTaker, full = false): number {
  for (let at = 0; at < bytes.length; ) {
    const end = frameEnd(bytes, at);
    if (end !== -1) {
      if (!taker.take(at, end)) return at;
      at = end;
      continue;
    }
    const next = nextFrame(bytes, at + 1);
    if (next === -1 && !whole) return at;
    const until = next !== -1 ? next : full ? bytes.length : usedEnd(bytes, at);
    if (until > at && !taker.damaged(at, until)) return at;
    at = next === -1 ? bytes.length : next;
  }
  return bytes.length;
}

/** The end of the bytes before the zeros at the end. */
function usedEnd(bytes: Buffer, from: number): number {
  let end = bytes.length;
  while (end > from && bytes[end - 1] === 0) end--;
  return end;
}
