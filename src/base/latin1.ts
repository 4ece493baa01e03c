/**
 * Text that holds bytes: UTF-8 read as latin1, one character per byte. JSON bodies and stream frames are kept like this, because
 * reading and writing them costs no decoding and no split character can be damaged. Such text must be written with the encoding
 * `latin1`, and decoded before people read it. It has a type of its own, so that it is not mixed with ordinary strings.
 */
import { Buffer } from 'node:buffer';

declare const latin1Brand: unique symbol;

/** A part of such text is such text too. */
export type Latin1Text = { slice(start?: number, end?: number): Latin1Text } & string & {
    readonly [latin1Brand]: true;
  };

/** For text that is latin1 by construction: ASCII, or put together from other Latin1Text. */
export function asLatin1(text: string): Latin1Text {
  return text as Latin1Text;
}

export function latin1OfBytes(bytes: Buffer, start?: number, end?: number): Latin1Text {
  return bytes.toString('latin1', start, end) as Latin1Text;
}

export function bytesOfLatin1(text: Latin1Text): Buffer {
  return Buffer.from(text, 'latin1');
}

/** An ordinary string as Latin1Text. */
export function encodeLatin1(text: string): Latin1Text {
  return Buffer.from(text, 'utf8').toString('latin1') as Latin1Text;
}

/** The ordinary string that Latin1Text stands for. */
export function decodeLatin1(text: Latin1Text): string {
  return Buffer.from(text, 'latin1').toString('utf8');
}

/** A copy in memory of its own: a slice would keep the whole text that it was cut from. */
export function copyLatin1(text: Latin1Text): Latin1Text {
  return Buffer.from(text, 'latin1').toString('latin1') as Latin1Text;
}

/** A longer text is not kept. */
const keptLengthMax = 256;
const keptTexts = new Map<string, string>();
const keptTextsMax = 1_000;

/**
 * The ordinary string of a text that comes again and again, such as a model id, made once. It is a copy: a part of a body would keep the whole
 * body in memory for as long as the record of the request.
 */
export function decodeOnce(text: string): string {
  return keptTexts.get(text) ?? keepText(text as Latin1Text);
}

function keepText(text: Latin1Text): string {
  const decoded = decodeLatin1(text);
  if (keptTexts.size >= keptTextsMax) keptTexts.clear();
  if (text.length <= keptLengthMax) keptTexts.set(copyLatin1(text), decoded);
  return decoded;
}
