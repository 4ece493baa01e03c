/** A completion, split into the members that are passed on and those that the gateway writes. */
import type { Latin1Text } from '../base/latin1.js';
import type { TextEncoding } from './json-text.js';
import type { TaskAnswer } from './task.js';
import type { UsageReading } from './usage-types.js';

export interface CompletionParts {
  /** Every member that is passed on, as JSON text without the outer braces. */
  members: string;
  encoding: TextEncoding;
  usage: unknown;
  /** The figures of `usage`. */
  reading: UsageReading;
  /** `usage` as the provider wrote it; undefined where it could not be cut out of the text. */
  usageText: string | undefined;
  answeredModel: unknown;
  finishReason: string | null;
  /** The generated text, as the inside of a JSON string; only filled where there is no usage to bill by. */
  delivered: Latin1Text;
  /** The whole answer as the upstream wrote it, in latin1; only where it is in the API of the client. */
  native?: string | undefined;
  /** Where `native` has the members that the gateway changes; absent where it was parsed, or has another set of them. */
  places?: AnswerPlaces | undefined;
  /** Bytes of a large answer, in place of which `members` and `native` have marks. */
  pieces?: readonly Uint8Array[];
  /** The answer to a request that is no chat; the members are then empty. */
  task?: TaskAnswer;
}

/** The values of members, each from behind its colon up to the comma or the brace behind it, and the brace that closes the answer. */
export interface AnswerPlaces {
  readonly modelStart: number;
  readonly modelEnd: number;
  readonly usageStart: number;
  readonly usageEnd: number;
  readonly end: number;
}

/** No JSON text has this character. */
const mark = '\0';

/** The mark of a piece. */
export function pieceMark(index: number): string {
  return `${mark}${index}${mark}`;
}

/** A text with its pieces in it, as bytes. Each piece is used as often as it is marked, and none is copied. */
export function bytesWithPieces(text: string, pieces: readonly Uint8Array[], encoding: TextEncoding): Uint8Array[] {
  return text.split(mark).map((part, at) => (at % 2 === 0 ? Buffer.from(part, encoding) : pieces[Number(part)]!));
}
