/**
 * Most frames of a stream differ only in their text. A template learnt from one parsed frame recognises the next ones by their
 * beginning and end and rewrites them without parsing, which would cost many times as much. A template is verified by parsing
 * when it is learnt, so a frame that it accepts is exactly that frame with another text.
 */
import { asLatin1, copyLatin1, type Latin1Text } from '../base/latin1.js';
import { type Chunk, type ChunkIdentity, deliveredText, usageOf, withIdentity } from './chunk.js';
import { DeltaReader } from './deltas.js';
import { isFields } from './message.js';

const placeholder = 'lodestone:text';
/** The members that can hold the text of a frame. */
const textMembers = ['"content":"', '"reasoning_content":"', '"reasoning":"'] as const;
/** A frame with more than this around its text is like no other. */
const aroundMax = 16 * 1024;
/** Longer text is not checked by a regular expression, which may run out of stack; such a frame is parsed. */
const checkedMax = 1024 * 1024;
const unplain = /["\\]|[^\u0020-\uffff]/;
/** The inside of a JSON string. */
const stringInside = /^(?:[\u0020\u0021\u0023-\u005b\u005d-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*$/;

export class ChunkTemplate {
  private constructor(
    private readonly prefix: string,
    private readonly suffix: string,
    private readonly outPrefix: string,
    /** Reasoning is sent under two names: the text between its two copies. Null where the text is sent once. */
    private readonly outMiddle: string | null,
    private readonly outSuffix: string,
    /** The frames hold reasoning, not content. */
    readonly isReasoning: boolean,
  ) {}

  /** Learns from the data of a frame with plain content or reasoning; null where it has another shape. */
  static learn(data: Latin1Text, as: ChunkIdentity): ChunkTemplate | null {
    for (const member of textMembers) {
      const template = learnFrom(data, member, as);
      if (template) return new ChunkTemplate(...template, member !== textMembers[0]);
    }
    return null;
  }

  /** The frame for the client, with `data: ` and the blank line. `metadata` is JSON text. */
  write(inside: Latin1Text, metadata?: string): Latin1Text {
    const end =
      metadata === undefined ? this.outSuffix : `${this.outSuffix.slice(0, -3)},"router_metadata":${metadata}}\n\n`;
    return asLatin1(
      this.outMiddle === null ? this.outPrefix + inside + end : this.outPrefix + inside + this.outMiddle + inside + end,
    );
  }

  /** The escaped text of the frame; null where the frame has another shape. */
  textIn(text: Latin1Text, start: number, end: number): Latin1Text | null {
    const from = start + this.prefix.length;
    const to = end - this.suffix.length;
    // Slicing and comparing whole strings runs in native code; `startsWith` does not.
    if (to < from || text.slice(start, from) !== this.prefix || text.slice(to, end) !== this.suffix) return null;
    const inside = text.slice(from, to);
    if (!unplain.test(inside)) return inside;
    return inside.length <= checkedMax && stringInside.test(inside) ? inside : null;
  }
}

function learnFrom(
  data: Latin1Text,
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
  if (prefix.length + suffix.length > aroundMax || prefix.includes('\\u') || suffix.includes('\\u')) return null;
  let probe: Chunk;
  try {
    probe = JSON.parse(prefix + placeholder + suffix) as Chunk;
  } catch {
    return null;
  }
  const choice = probe.choices?.length === 1 ? probe.choices[0] : undefined;
  if (!choice?.delta || usageOf(probe) !== null || 'reasoning_details' in choice.delta) return null;
  // A piece of a tool call is written by what was sent of the call before, which the reader here does not know.
  if (isCallPiece(choice.delta.tool_calls)) return null;
  new DeltaReader(true).tidy(probe);
  // Other generated text in the frame (a refusal, more reasoning) would be passed on but not counted.
  if (choice.finish_reason !== null || deliveredText(probe) !== placeholder) return null;
  const pieces = JSON.stringify(withIdentity(probe, as)).split(placeholder);
  const outPrefix = flat(`data: ${pieces[0]}`);
  const outSuffix = flat(`${pieces.at(-1)}\n\n`);
  if (pieces.length === 2) return [flat(prefix), flat(suffix), outPrefix, null, outSuffix];
  return pieces.length === 3 ? [flat(prefix), flat(suffix), outPrefix, flat(pieces[1]!), outSuffix] : null;
}

/** Many servers write `null` or an empty list into every frame. */
function isCallPiece(calls: unknown): boolean {
  return Array.isArray(calls) ? calls.length > 0 : isFields(calls);
}

/** A copy: a slice would keep the whole read in memory and make every comparison slower. */
function flat(text: string): string {
  return copyLatin1(asLatin1(text));
}

/** Uses `indexOf` instead of a loop over characters: a frame of megabytes must not delay other requests. */
function closingQuote(data: string, from: number): number {
  for (let at = data.indexOf('"', from); at !== -1; at = data.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (at - 1 - backslashes >= from && data.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return at;
  }
  return -1;
}
