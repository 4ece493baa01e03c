/**
 * Writes OpenAI stream chunks as latin1 JSON text. The shape is always the same, so that the relay recognises content by its
 * beginning and end (src/wire/chunk-template.ts).
 */
import { asLatin1, type Latin1Text } from '../../../base/latin1.js';

const head = '{"id":"","object":"chat.completion.chunk","created":0,"model":"","choices":[{"index":0,"delta":{';
const tail = '},"finish_reason":null}]}';

/** The text of a chunk around the inside of a JSON string. */
export interface ChunkAround {
  readonly before: string;
  readonly after: string;
}

export function chunkAround({ before, after }: ChunkAround, inside: Latin1Text): Latin1Text {
  return asLatin1(before + inside + after);
}

export const contentChunk: ChunkAround = { before: `${head}"content":"`, after: `"${tail}` };
export const reasoningChunk: ChunkAround = { before: `${head}"reasoning_content":"`, after: `"${tail}` };

/** `index` is the position of the tool call in the answer. */
export function argumentsChunk(index: number): ChunkAround {
  return { before: `${head}"tool_calls":[{"index":${index},"function":{"arguments":"`, after: `"}}]${tail}` };
}

/** `id` and `name` are JSON strings with their quotes. */
export function toolCallChunk(index: number, id: string, name: string): Latin1Text {
  const call = `{"index":${index},"id":${id},"type":"function","function":{"name":${name},"arguments":""}}`;
  return asLatin1(`${head}"tool_calls":[${call}]${tail}`);
}

/** `details` is the JSON text of one entry of `reasoning_details`. */
export function reasoningDetailsChunk(details: string): Latin1Text {
  return asLatin1(`${head}"reasoning_details":[${details}]${tail}`);
}

/** Says that there is a picture, not what is in it. */
export const imageChunk = asLatin1(`${head}"images":[{}]${tail}`);

/** `model` is a JSON string with its quotes: the model that the provider reports. `usage` is JSON text. */
export function roleChunk(model = '""', usage?: string): Latin1Text {
  const first = head.replace('"model":""', () => `"model":${model}`);
  const last = usage === undefined ? tail : `${tail.slice(0, -1)},"usage":${usage}}`;
  return asLatin1(`${first}"role":"assistant","content":""${last}`);
}

export function finishChunk(finishReason: string): Latin1Text {
  return asLatin1(`${head}${tail.replace('null', () => JSON.stringify(finishReason))}`);
}

/** `usage` is JSON text. */
export function usageChunk(usage: string): Latin1Text {
  return asLatin1(`{"id":"","object":"chat.completion.chunk","created":0,"model":"","choices":[],"usage":${usage}}`);
}

/** The end of a stream. */
export const doneChunk = asLatin1('[DONE]');
