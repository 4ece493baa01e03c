/**
 * A conversation in terms that every dialect has a word for. Strings stay as they were read: byte strings where the request
 * is latin1 (see wire/json-text). What no dialect shares is kept as it came, for the provider to judge.
 */

export type Fields = Record<string, unknown>;

/** A prompt-cache marker as the caller wrote it, e.g. `{"type":"ephemeral"}`; absent where there is none. */
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

/** A file or a sound whose bytes came along; `data` is base64, `part` is what the caller wrote. */
export interface FileItem extends Cacheable {
  kind: 'file';
  mediaType: string;
  data: string;
  filename: string | null;
  part: unknown;
}

/** A part that OpenAI has no common shape for: passed on as it is, so that a provider either knows it or says that it does not. */
export interface OtherItem {
  kind: 'other';
  part: unknown;
}

/** What a user message or a tool's result may hold. */
export type Part = TextItem | ImageItem | FileItem | OtherItem;

/** One entry of `reasoning_details`: what a provider wants to have back word for word. */
export interface ReasoningItem {
  kind: 'reasoning';
  /** Whose it is; null where the caller's client has not kept it. */
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
  /** The name of the function that was called, as the call of this id had it; null where there was no such call. */
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
