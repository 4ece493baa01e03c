/**
 * Most frames of a stream differ only in their text. A template learnt from one parsed frame recognises the next ones by
 * their beginning and end, and rewrites them by splicing: parsing every frame would cost many times as much. It is checked by
 * parsing when it is learnt, so a frame that it accepts is exactly that frame with another text.
 */
import { type Chunk, type ChunkIdentity, deliveredText, renamed, usageOf } from './chunk.js';
import { DeltaReader } from './deltas.js';

const place = 'lodestone:text';
/** Where the text of a frame can be. */
const textMembers = ['"content":"', '"reasoning_content":"', '"reasoning":"'] as const;
/** Beyond this a regular expression may run out of stack; such a frame is parsed. */
const checkedMax = 1024 * 1024;
const unplain = /["\\]|[^\u0020-\uffff]/;
/** The inside of a JSON string. */
const stringInside = /^(?:[\u0020\u0021\u0023-\u005b\u005d-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*$/;

export class ChunkTemplate {
  private constructor(
    private readonly prefix: string,
    private readonly suffix: string,
    private readonly outPrefix: string,
    /** Reasoning goes out under two names: what stands between its two copies. null where the text goes out once. */
    private readonly outMiddle: string | null,
    private readonly outSuffix: string,
  ) {}

  /** From the data of a frame that was found to be plain content or reasoning; null where it has another shape. */
  static learn(data: string, as: ChunkIdentity): ChunkTemplate | null {
    for (const member of textMembers) {
      const template = learnFrom(data, member, as);
      if (template) return new ChunkTemplate(...template);
    }
    return null;
  }

  /** The frame that goes out, with `data: ` before it and a blank line after it. `metadata` is JSON text. */
  write(inside: string, metadata?: string): string {
    const end =
      metadata === undefined ? this.outSuffix : `${this.outSuffix.slice(0, -3)},"router_metadata":${metadata}}\n\n`;
    return this.outMiddle === null
      ? this.outPrefix + inside + end
      : this.outPrefix + inside + this.outMiddle + inside + end;
  }

  /** The text inside the frame, still escaped, or null where the frame is not of this shape. */
  textIn(text: string, start: number, end: number): string | null {
    const from = start + this.prefix.length;
    const to = end - this.suffix.length;
    // A slice and a comparison of whole strings: the engine does both in native code, `startsWith` it does not.
    if (to < from || text.slice(start, from) !== this.prefix || text.slice(to, end) !== this.suffix) return null;
    const inside = text.slice(from, to);
    if (!unplain.test(inside)) return inside;
    return inside.length <= checkedMax && stringInside.test(inside) ? inside : null;
  }
}

function learnFrom(
  data: string,
  member: string,
  as: ChunkIdentity,
): [prefix: string, suffix: string, outPrefix: string, outMiddle: string | null, outSuffix: string] | null {
  const at = data.indexOf(member);
  if (at === -1) return null;
  const from = at + member.length;
  const to = closingQuote(data, from);
  if (to === -1) return null;
  const prefix = data.slice(0, from);
  const suffix = data.slice(to);
  if (prefix.includes('\\u') || suffix.includes('\\u')) return null;
  let probe: Chunk;
  try {
    probe = JSON.parse(prefix + place + suffix) as Chunk;
  } catch {
    return null;
  }
  const choice = probe.choices?.length === 1 ? probe.choices[0] : undefined;
  if (!choice?.delta || usageOf(probe) !== null || 'reasoning_details' in choice.delta) return null;
  new DeltaReader(true).tidy(probe);
  // Whatever else was generated in the frame (a tool call, other reasoning) would be passed on, but not counted.
  if (choice.finish_reason !== null || deliveredText(probe) !== place) return null;
  const pieces = JSON.stringify(renamed(probe, as)).split(place);
  const outPrefix = flat(`data: ${pieces[0]}`);
  const outSuffix = flat(`${pieces.at(-1)}\n\n`);
  if (pieces.length === 2) return [flat(prefix), flat(suffix), outPrefix, null, outSuffix];
  return pieces.length === 3 ? [flat(prefix), flat(suffix), outPrefix, flat(pieces[1]!), outSuffix] : null;
}

/** A copy of its own: a slice would keep the whole read alive, and cost more in every comparison. */
function flat(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

/** Searched for and not walked to: a frame of megabytes must not hold up others. */
function closingQuote(data: string, from: number): number {
  for (let at = data.indexOf('"', from); at !== -1; at = data.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (at - 1 - backslashes >= from && data.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return at;
  }
  return -1;
}
