/**
 * A conversation in terms that every dialect can express. Strings keep the encoding of the request (src/wire/json-text.ts). Parts
 * without a common shape are kept as the client wrote them, for the provider to judge.
 */

export type Fields = Record<string, unknown>;

/** A prompt-cache marker as the client wrote it, for example `{"type":"ephemeral"}`. */
interface Cacheable {
  cacheControl?: unknown;
}

export interface TextItem extends Cacheable {
  kind: 'text';
  text: string;
}

export type ImageSource =
  /** `data` is base64. */
  { kind: 'data'; mediaType: string; data: string } | { kind: 'url'; url: string };

export interface ImageItem extends Cacheable {
  kind: 'image';
  source: ImageSource;
}

/** An inline file or audio; `data` is base64, `part` is what the client wrote. */
export interface FileItem extends Cacheable {
  kind: 'file';
  mediaType: string;
  data: string;
  filename: string | null;
  part: unknown;
}

/** A part without a common shape: passed on unchanged, so that the provider accepts or rejects it. */
interface OtherItem {
  kind: 'other';
  part: unknown;
}

/** A part of a user message or a tool result. */
export type Part = TextItem | ImageItem | FileItem | OtherItem;

/** One entry of `reasoning_details`, which the provider expects back unchanged. */
export interface ReasoningItem {
  kind: 'reasoning';
  /** The provider's format; null where the client did not keep it. */
  format: string | null;
  text: string | null;
  signature: string | null;
  /** Reasoning that only the provider can read. */
  data: string | null;
  /** The tool call that it belongs to. */
  id: string | null;
}

export interface ToolCallItem extends Cacheable {
  kind: 'tool_call';
  id: string;
  name: string;
  input: Fields;
}

export interface ToolResultItem extends Cacheable {
  kind: 'tool_result';
  id: string;
  /** The function name of the call with this id; null where there is no such call. */
  name: string | null;
  parts: Part[];
}

export type Item = Part | ReasoningItem | ToolCallItem | ToolResultItem;

export interface Turn {
  role: 'user' | 'assistant';
  /** Never empty. */
  items: Item[];
}

export interface Conversation {
  /** Every system and developer message, in order. */
  system: TextItem[];
  /** Alternating; tool results are in the user's turns. */
  turns: Turn[];
}

export function isFields(value: unknown): value is Fields {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/**
 * Whether the open round of tool calls began without reasoning that the provider accepts. A round is open where the last turn
 * holds the results of the calls.
 */
export function beganWithoutReasoning(turns: readonly Turn[], isAccepted: (item: ReasoningItem) => boolean): boolean {
  const first = firstOfOpenRound(turns);
  return first !== null && !first.items.some((item) => item.kind === 'reasoning' && isAccepted(item));
}

/** The assistant turn that began the open round; null where no round is open. */
function firstOfOpenRound(turns: readonly Turn[]): Turn | null {
  let first: Turn | null = null;
  for (let at = turns.length - 1; at > 0; at -= 2) {
    if (!turns[at]!.items.some(({ kind }) => kind === 'tool_result')) break;
    first = turns[at - 1]!;
  }
  return first;
}
