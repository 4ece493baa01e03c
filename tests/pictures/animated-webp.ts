/** Puts pictures in WebP, as the browser makes them, one after another into an animated WebP file. */

export interface Frame {
  /** A whole WebP file of the film's size. */
  picture: Buffer;
  durationMs: number;
}

export interface FilmSize {
  width: number;
  height: number;
}

/** https://developers.google.com/speed/webp/docs/riff_container: one frame a chunk, each of which replaces the one before. */
export function animatedWebp({ width, height }: FilmSize, frames: readonly Frame[]): Buffer {
  const isAnimated = 0x02;
  const header = Buffer.concat([Buffer.from([isAnimated, 0, 0, 0]), uint24(width - 1), uint24(height - 1)]);
  // The colour behind the frames is never seen, and the film repeats without end.
  const animation = Buffer.alloc(6);
  const shown = frames.map(({ picture, durationMs }) => {
    const withoutBlending = 0x02;
    const place = [uint24(0), uint24(0), uint24(width - 1), uint24(height - 1), uint24(Math.round(durationMs))];
    return chunk('ANMF', Buffer.concat([...place, Buffer.from([withoutBlending]), imageOf(picture)]));
  });
  const body = Buffer.concat([Buffer.from('WEBP'), chunk('VP8X', header), chunk('ANIM', animation), ...shown]);
  return chunk('RIFF', body);
}

/** The chunks of a WebP file that hold its image. */
function imageOf(file: Buffer): Buffer {
  const found: Buffer[] = [];
  for (let at = 12; at + 8 <= file.length; ) {
    const size = file.readUInt32LE(at + 4);
    const end = at + 8 + size + (size % 2);
    if (['ALPH', 'VP8 ', 'VP8L'].includes(file.toString('latin1', at, at + 4))) found.push(file.subarray(at, end));
    at = end;
  }
  if (found.length === 0) throw new Error('a frame is no WebP picture');
  return Buffer.concat(found);
}

function chunk(name: string, data: Buffer): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(data.length);
  return Buffer.concat([Buffer.from(name, 'latin1'), size, data, Buffer.alloc(data.length % 2)]);
}

function uint24(value: number): Buffer {
  const bytes = Buffer.alloc(3);
  bytes.writeUIntLE(value, 0, 3);
  return bytes;
}
