/**
 * Embeddings and rerank of the sandbox, by the words of a text: equal texts have equal vectors, and texts that share words have vectors
 * that are close. They have no `usage`, so the gateway counts the tokens itself.
 */

/** Larger bodies are not parsed, because that would delay other clients. */
const bodyBytesMax = 256 * 1024;
const defaultDimensions = 384;
const dimensionsMax = 1_024;
/** Each word counts at this many places of a vector. */
const placesPerWord = 4;

type Fields = Record<string, unknown>;

/** OpenAI's list; a text says why there is none. */
export function embed(body: Buffer): object | string {
  const request = parse(body);
  if (typeof request === 'string') return request;
  const { input, model, dimensions = defaultDimensions } = request;
  if (typeof dimensions !== 'number' || dimensions > dimensionsMax) {
    return `The sandbox has vectors of up to ${dimensionsMax} dimensions.`;
  }
  const data = inputsOf(input).map((item, index) => ({
    object: 'embedding',
    index,
    embedding: vectorOf(wordsOf(item), dimensions),
  }));
  return { object: 'list', data, model };
}

/** Results in Cohere's shape; a text says why there are none. */
export function rerank(body: Buffer): object | string {
  const request = parse(body);
  if (typeof request === 'string') return request;
  const query = vectorOf(wordsOf(request.query), defaultDimensions);
  const results = (request.documents as unknown[]).map((document, index) => ({
    index,
    relevance_score: relevanceOf(query, vectorOf(wordsOf(document), defaultDimensions)),
  }));
  return { results };
}

function parse(body: Buffer): Fields | string {
  if (body.length > bodyBytesMax) {
    return `The sandbox takes requests of up to ${bodyBytesMax} bytes, and this one has ${body.length}.`;
  }
  return JSON.parse(body.toString('utf8')) as Fields;
}

/** A text, or a list of tokens, is one input. */
function inputsOf(input: unknown): unknown[] {
  return Array.isArray(input) && typeof input[0] !== 'number' ? input : [input];
}

/** Tokens are words of their own. */
function wordsOf(item: unknown): string[] {
  if (Array.isArray(item)) return item.map(String);
  return (
    String(item)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [String(item)]
  );
}

/** A vector of length 1. */
function vectorOf(words: readonly string[], dimensions: number): number[] {
  const vector: number[] = Array.from({ length: dimensions }, () => 0);
  let hash = 0;
  for (const word of words) {
    hash = hashOf(word);
    for (let place = 0; place < placesPerWord; place++) {
      hash = mix(hash + place);
      const at = hash % dimensions;
      vector[at] = vector[at]! + (hash & 0x10000 ? 1 : -1);
    }
  }
  // Words may cancel each other out.
  if (!vector.some((value) => value !== 0)) vector[mix(hash) % dimensions] = 1;
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return vector.map((value) => value / length);
}

/** From 0 to 1. */
function relevanceOf(query: readonly number[], document: readonly number[]): number {
  const cosine = query.reduce((sum, value, at) => sum + value * document[at]!, 0);
  return Math.round(Math.max(0, Math.min(1, cosine)) * 1e6) / 1e6;
}

/** FNV-1a, 32 bits. */
function hashOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
  return mix(hash);
}

/** Spreads the bits of a number over all 32. */
function mix(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
