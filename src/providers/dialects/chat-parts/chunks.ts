/**
 * OpenAI's stream chunks as text, the same shape every time, so that the relay recognises content by its beginning and end
 * (wire/chunk-template). What is put into them is JSON text in latin1.
 */

const head = '{"id":"","object":"chat.completion.chunk","created":0,"model":"","choices":[{"index":0,"delta":{';
const tail = '},"finish_reason":null}]}';

/** A chunk around the inside of a JSON string: `before + inside + after`. */
export interface ChunkAround {
  readonly before: string;
  readonly after: string;
}

export const contentChunk: ChunkAround = { before: `${head}"content":"`, after: `"${tail}` };
export const reasoningChunk: ChunkAround = { before: `${head}"reasoning_content":"`, after: `"${tail}` };

/** `index` counts the tool calls of the answer. */
export function argumentsChunk(index: number): ChunkAround {
  return { before: `${head}"tool_calls":[{"index":${index},"function":{"arguments":"`, after: `"}}]${tail}` };
}

/** `id` and `name` are JSON strings with their quotes. */
export function toolCallChunk(index: number, id: string, name: string): string {
  const call = `{"index":${index},"id":${id},"type":"function","function":{"name":${name},"arguments":""}}`;
  return `${head}"tool_calls":[${call}]${tail}`;
}

/** `details` is the JSON text of one entry of `reasoning_details`. */
export function reasoningDetailsChunk(details: string): string {
  return `${head}"reasoning_details":[${details}]${tail}`;
}

/** `model` is a JSON string with its quotes: what the provider says that it served. */
export function roleChunk(model = '""'): string {
  const first = head.replace('"model":""', () => `"model":${model}`);
  return `${first}"role":"assistant","content":""${tail}`;
}

export function finishChunk(finishReason: string): string {
  return `${head}${tail.replace('null', () => JSON.stringify(finishReason))}`;
}

/** `usage` is JSON text. */
export function usageChunk(usage: string): string {
  return `{"id":"","object":"chat.completion.chunk","created":0,"model":"","choices":[],"usage":${usage}}`;
}
