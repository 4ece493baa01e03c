/** Checks the frames of a zstd body before they go to a decoder that allocates whatever they announce. */

const windowBytesMax = 8 * 1024 * 1024;
/** The format's limit for a block. */
const blockBytesMax = 128 * 1024;
const frameMagic = 0xfd2fb528;
const skippableMagic = 0x184d2a50;
const contentSizeBytes = [0, 2, 4, 8];
const dictionaryBytes = [0, 1, 2, 4];
const broken = 'its compressed body is broken';

/** The reason why the body must not be decoded; null where it may be. */
export function zstdFault(body: Buffer): string | null {
  let at = 0;
  try {
    while (at < body.length) {
      const magic = body.readUInt32LE(at);
      // Sixteen magic numbers mark skippable frames.
      if ((magic & 0xfffffff0) >>> 0 === skippableMagic) at += 8 + body.readUInt32LE(at + 4);
      else if (magic === frameMagic) at = endOfFrame(body, at + 4);
      else return broken;
    }
  } catch (error) {
    return error instanceof WindowTooLarge ? 'its compressed body needs a window of over 8 MiB' : broken;
  }
  return at === body.length ? null : broken;
}

class WindowTooLarge extends Error {}

function endOfFrame(body: Buffer, headerAt: number): number {
  const descriptor = body.readUInt8(headerAt);
  const singleSegment = (descriptor & 0x20) !== 0;
  const dictionary = dictionaryBytes[descriptor & 3]!;
  if ((descriptor & 0x08) !== 0) throw new Error('a reserved bit is set');
  const sizeAt = headerAt + 1 + (singleSegment ? 0 : 1) + dictionary;
  const sizeFlag = descriptor >> 6;
  const sizeBytes = sizeFlag === 0 && singleSegment ? 1 : contentSizeBytes[sizeFlag]!;
  const window = singleSegment ? contentSize(body, sizeAt, sizeBytes) : windowOf(body.readUInt8(headerAt + 1));
  if (window > windowBytesMax) throw new WindowTooLarge();
  const checksumBytes = (descriptor & 0x04) !== 0 ? 4 : 0;
  return endOfBlocks(body, sizeAt + sizeBytes) + checksumBytes;
}

/** The descriptor holds the exponent of a power of two and a number of eighths. */
function windowOf(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}

function contentSize(body: Buffer, at: number, bytes: number): number {
  if (bytes === 8) return Number(body.readBigUInt64LE(at));
  return body.readUIntLE(at, bytes) + (bytes === 2 ? 256 : 0);
}

function endOfBlocks(body: Buffer, from: number): number {
  for (let at = from; ; ) {
    const header = body.readUIntLE(at, 3);
    const [isLast, type, size] = [(header & 1) !== 0, (header >> 1) & 3, header >> 3];
    if (type === 3 || size > blockBytesMax) throw new Error('an invalid block');
    // A block of one repeated byte stores it once.
    at += 3 + (type === 1 ? 1 : size);
    if (isLast) return at;
  }
}
