/**
 * Makes what was read of a large answer fit to be handed to the thread that serves requests: its texts as bytes, which are given away and
 * not copied, and of everything else only what is small.
 */
import { figuresBytesMax } from '../wire/answer-bounds.js';
import { type AnswerPlaces, type CompletionParts, pieceMark } from '../wire/completion-parts.js';
import { findMembers } from '../wire/json-members.js';
import type { TextEncoding } from '../wire/json-text.js';
import type { CompletionReading } from './dialects/openai/completion.js';
import type { TaskReading } from './read-task-answer.js';

/** Texts that are shorter stay texts. */
const pieceBytesMin = 64 * 1024;
/** Of text that cannot be handed over as bytes, which is unusual in answers of this size. */
const handedBytesMax = 8 * 1024 * 1024;

export type Reading = CompletionReading | TaskReading;

/** `isRewritten`: the answer is parsed again, for the client's API. */
export function detachTexts(reading: Reading, isRewritten: boolean): Reading {
  switch (reading.kind) {
    case 'completion':
      return detachCompletion(reading.parts, isRewritten);
    case 'answer': {
      const { answer } = reading;
      const { tokens, requests, model } = answer;
      return {
        ...reading,
        answer: { ...answer, tokens: small(tokens), requests: small(requests), model: small(model) },
      };
    }
    case 'error':
      return { ...reading, error: isLarge(reading.error) ? textOf(reading.error) : reading.error };
    default:
      return reading;
  }
}

/** The memory of the bytes. */
export function transferOf(reading: Reading): ArrayBuffer[] {
  const pieces = reading.kind === 'completion' ? (reading.parts.pieces ?? []) : [];
  return pieces.map(({ buffer }) => buffer as ArrayBuffer);
}

function detachCompletion(parts: CompletionParts, isRewritten: boolean): CompletionReading {
  if (isLarge(parts.usage)) return malformed(`its usage is over ${figuresBytesMax} bytes`);
  if (parts.delivered.length > handedBytesMax) {
    return { ...malformed(`its answer has no usage, and a text of over ${handedBytesMax} bytes`), excess: true };
  }
  const kept = { ...parts, answeredModel: small(parts.answeredModel) };
  if (isRewritten) return { kind: 'completion', parts: kept };
  return parts.native === undefined ? detachMembers(kept) : detachNative(kept, parts.native);
}

function detachMembers(parts: CompletionParts): CompletionReading {
  const pieces: Uint8Array[] = [];
  const members = detached(parts.members, parts.encoding, pieces);
  return { kind: 'completion', parts: { ...parts, members, pieces } };
}

/** The parts between the members that the door changes. */
function detachNative(parts: CompletionParts, native: string): CompletionReading {
  const places = parts.places ?? placesIn(native);
  if (places === null) {
    if (native.length <= handedBytesMax) return { kind: 'completion', parts };
    const reason = `its answer is over ${handedBytesMax} bytes, and has no model, no usage or a member twice`;
    return { ...malformed(reason), excess: true };
  }
  const { modelStart, modelEnd, usageStart, usageEnd, end } = places;
  if (usageEnd - usageStart > figuresBytesMax) return malformed(`its usage is over ${figuresBytesMax} bytes`);
  const pieces: Uint8Array[] = [];
  const between = (from: number, to: number): string => detached(native.slice(from, to), 'latin1', pieces);
  const usage = native.slice(usageStart, usageEnd);
  // The door writes its own model, so the value of this one is left out.
  if (modelStart < usageStart) {
    const before = between(0, modelStart);
    const upToUsage = before + between(modelEnd, usageStart);
    const all = upToUsage + usage + between(usageEnd, end);
    return withNative(parts, pieces, all + native.slice(end), {
      ...{ modelStart: before.length, modelEnd: before.length },
      ...{ usageStart: upToUsage.length, usageEnd: upToUsage.length + usage.length, end: all.length },
    });
  }
  const before = between(0, usageStart);
  const upToModel = before + usage + between(usageEnd, modelStart);
  const all = upToModel + between(modelEnd, end);
  return withNative(parts, pieces, all + native.slice(end), {
    ...{ modelStart: upToModel.length, modelEnd: upToModel.length },
    ...{ usageStart: before.length, usageEnd: before.length + usage.length, end: all.length },
  });
}

function withNative(
  parts: CompletionParts,
  pieces: readonly Uint8Array[],
  native: string,
  places: AnswerPlaces,
): CompletionReading {
  return { kind: 'completion', parts: { ...parts, native, places, pieces } };
}

/** The memory of bytes, to be given away; bytes that are part of other memory are copied. */
export function ownMemory(bytes: Buffer): ArrayBuffer {
  const { buffer, byteLength } = bytes;
  return byteLength === buffer.byteLength && buffer instanceof ArrayBuffer ? buffer : new Uint8Array(bytes).buffer;
}

/** null where the answer is not the usual one: without a model or usage, or with a member twice, or with one of the gateway's. */
function placesIn(native: string): AnswerPlaces | null {
  const found = findMembers(native);
  if (found === null || found.keys.includes('router_metadata')) return null;
  const { keys, valueStarts, ends } = found;
  const [model, usage] = [keys.indexOf('model'), keys.indexOf('usage')];
  if (model === -1 || usage === -1) return null;
  return {
    ...{ modelStart: valueStarts[model]!, modelEnd: ends[model]! },
    ...{ usageStart: valueStarts[usage]!, usageEnd: ends[usage]!, end: ends.at(-1)! },
  };
}

/** The text, or a mark where it is long: its bytes are then one more piece. */
function detached(text: string, encoding: TextEncoding, pieces: Uint8Array[]): string {
  if (text.length < pieceBytesMin) return text;
  // Memory of its own, which can be given away.
  pieces.push(new Uint8Array(ownMemory(Buffer.from(text, encoding))));
  return pieceMark(pieces.length - 1);
}

function malformed(reason: string): Extract<CompletionReading, { kind: 'malformed' }> {
  return { kind: 'malformed', reason };
}

/** A value of the same kind that is short. */
function small(value: unknown): unknown {
  if (!isLarge(value)) return value;
  return typeof value === 'string' ? value.slice(0, figuresBytesMax) : {};
}

function isLarge(value: unknown): boolean {
  if (typeof value === 'string') return value.length > figuresBytesMax;
  return value !== null && typeof value === 'object' && JSON.stringify(value).length > figuresBytesMax;
}

/** As much as is read of an error that has a status of its own. */
function textOf(error: unknown): string {
  return JSON.stringify(error).slice(0, figuresBytesMax);
}
