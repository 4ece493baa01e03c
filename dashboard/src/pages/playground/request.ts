/** A request of the playground, independent of the client API that it is sent through. */

export interface Picture {
  name: string;
  /** A `data:` address, so that the picture travels inside the request. */
  url: string;
}

export interface ToolCall {
  id: string;
  name: string;
  /** JSON text, as the model wrote it. */
  arguments: string;
  /** What the reader entered as the tool's answer. */
  result?: string;
}

export interface Failure {
  message: string;
  /** Status, code and attempts of an error response. */
  detail?: string;
  /** The connection ended in the middle of the answer. */
  lost?: boolean;
}

export interface Turn {
  id: number;
  role: 'user' | 'assistant';
  content: string;
  pictures?: readonly Picture[];
  reasoning?: string;
  toolCalls?: readonly ToolCall[];
  failure?: Failure;
  stopped?: boolean;
}

export interface ToolDefinition {
  name: string;
  description?: string;
  parameters: object;
}

export interface Parameters {
  temperature?: number;
  topP?: number;
  maxTokens?: number;
  seed?: number;
  stop?: string[];
}

export interface PlaygroundRequest {
  model: string;
  system: string;
  turns: readonly Turn[];
  /** What a rerank request orders. */
  documents: readonly string[];
  stream: boolean;
  parameters: Parameters;
  tools: readonly ToolDefinition[];
  /** The request's `provider` object; empty = not sent. */
  provider: Readonly<Record<string, unknown>>;
}

/** The turns that a next request repeats: without questions whose answer failed before it began. */
export function repeatedTurns(turns: readonly Turn[]): Turn[] {
  const isEmptyAnswer = (turn: Turn | undefined) =>
    turn?.role === 'assistant' && turn.content === '' && !turn.toolCalls?.length;
  return turns.filter((turn, index) => !isEmptyAnswer(turn) && !isEmptyAnswer(turns[index + 1]));
}

/** Calls that wait for their result. */
export function openCalls(turns: readonly Turn[]): readonly ToolCall[] {
  const last = turns.at(-1);
  return last?.role === 'assistant' && !last.failure ? (last.toolCalls ?? []) : [];
}

/** `{ media_type, data }` of a `data:` address. */
export function pictureData({ url }: Picture): { media_type: string; data: string } {
  const [, type = 'image/png', data = ''] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  return { media_type: type, data };
}

/** The object that JSON text describes; an empty one where the text is not JSON. */
export function jsonObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
