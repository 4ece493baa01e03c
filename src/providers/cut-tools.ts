/** Leaves tools out of the body of a native pass. Every other byte of it stays as the client wrote it. */
import { asLatin1, type Latin1Text } from '../base/latin1.js';
import type { NativeTools } from '../wire/chat-request.js';
import type { OutgoingCall } from './dialects/dialect.js';

/** A part of a body, and what comes in its place. */
interface Change {
  readonly start: number;
  readonly end: number;
  readonly text?: Latin1Text;
}

const comma = 0x2c;

/** What goes with the tools of some names: each with one comma, and a choice among no tools. */
export function cutsOf(
  body: string | Buffer,
  { entries, count, choice }: NativeTools,
  names: readonly string[],
): Change[] {
  const cuts: Change[] = [];
  const left = entries.filter(({ name }) => names.includes(name));
  for (const entry of left) addCut(cuts, body, entry);
  if (left.length === count && choice !== undefined) cuts.push(choice);
  return cuts;
}

/** An entry goes with the comma behind it, and the last one with the comma behind the last entry that stays. */
function addCut(cuts: Change[], body: string | Buffer, { start, end }: Change): void {
  let after = end;
  while (isSpace(codeAt(body, after))) after++;
  if (codeAt(body, after) === comma) {
    cuts.push({ start, end: after + 1 });
    return;
  }
  let from = start;
  for (;;) {
    while (isSpace(codeAt(body, from - 1))) from--;
    if (cuts.at(-1)?.end !== from) break;
    from = cuts.pop()!.start;
  }
  cuts.push({ start: codeAt(body, from - 1) === comma ? from - 1 : from, end });
}

export function withChanges(body: string | Buffer, changes: Change[]): OutgoingCall['body'] {
  changes.sort((a, b) => a.start - b.start);
  if (typeof body !== 'string') return changedBytes(body, changes);
  let out = '';
  let from = 0;
  for (const { start, end, text = '' } of changes) {
    out += body.slice(from, start) + text;
    from = end;
  }
  return asLatin1(out + body.slice(from));
}

function changedBytes(body: Buffer, changes: readonly Change[]): Buffer[] {
  const pieces: Buffer[] = [];
  let from = 0;
  for (const { start, end, text } of changes) {
    pieces.push(body.subarray(from, start));
    if (text !== undefined) pieces.push(Buffer.from(text, 'latin1'));
    from = end;
  }
  return [...pieces, body.subarray(from)];
}

function codeAt(body: string | Buffer, at: number): number {
  return typeof body === 'string' ? body.charCodeAt(at) : body[at]!;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
