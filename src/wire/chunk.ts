/** Reads OpenAI stream chunks of any server, and writes them with the gateway's id and model. */
import { asLatin1, decodeLatin1, encodeLatin1, type Latin1Text } from '../base/latin1.js';
import type { TextEncoding } from './json-text.js';
import { type Fields, generatedText, isFields, isText } from './message.js';

interface Delta {
  content?: unknown;
  reasoning?: unknown;
  reasoning_content?: unknown;
  refusal?: unknown;
  tool_calls?: unknown;
  function_call?: unknown;
  audio?: unknown;
  images?: unknown;
}

export interface Choice {
  index?: number;
  delta?: Delta | null;
  finish_reason?: unknown;
  usage?: unknown;
}

export interface Chunk {
  id?: unknown;
  object?: unknown;
  created?: unknown;
  model?: unknown;
  choices?: Choice[];
  usage?: unknown;
  service_tier?: unknown;
  system_fingerprint?: unknown;
  error?: unknown;
  router_metadata?: unknown;
  x_groq?: { usage?: unknown };
  /** Set where the text had escapes and was read as UTF-8, so that it is written as UTF-8 too. */
  [viaUtf8]?: true;
}

const viaUtf8 = Symbol('read as UTF-8');

/** Null where the data is not a JSON object with readable choices. */
export function parseChunk(data: Latin1Text): Chunk | null {
  const escaped = data.includes('\\u');
  try {
    const value: unknown = JSON.parse(escaped ? decodeLatin1(data) : data);
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return null;
    const chunk = value as Chunk;
    if (Array.isArray(chunk.choices) && !chunk.choices.every(isChoice)) return null;
    if (escaped) chunk[viaUtf8] = true;
    return chunk;
  } catch {
    return null;
  }
}

export interface ChunkIdentity {
  id: string;
  created: number;
  model: string;
  /** The client asked for usage, which then comes in a frame of its own. */
  includeUsage: boolean;
}

/** The encoding of the chunk's strings. */
export function encodingOf(chunk: Chunk): TextEncoding {
  return chunk[viaUtf8] ? 'utf8' : 'latin1';
}

/** `data: …\n\n` with the gateway's id, object, created and model, and without usage. */
export function writeChunk(chunk: Chunk, as: ChunkIdentity, metadata?: string): Latin1Text {
  const text = JSON.stringify(withIdentity(chunk, as));
  const bytes = chunk[viaUtf8] ? encodeLatin1(text) : text;
  return asLatin1(
    metadata === undefined ? `data: ${bytes}\n\n` : `data: ${bytes.slice(0, -1)},"router_metadata":${metadata}}\n\n`,
  );
}

/** Clients of OpenRouter accept no null for a member that may be absent, so the fingerprint of most providers is left out. */
export function withIdentity(chunk: Chunk, { id, created, model }: ChunkIdentity): Chunk {
  const { usage, router_metadata, x_groq, error, ...kept } = chunk;
  const out: Chunk = { ...kept, id, object: 'chat.completion.chunk', created, model };
  if (out.system_fingerprint === null) out.system_fingerprint = undefined;
  return out;
}

/** Whether a frame carries content, reasoning or a tool call. After the first such frame no other route can be tried. */
export function hasContent(chunk: Chunk): boolean {
  return chunk.choices!.some(({ delta }) => {
    if (!delta) return false;
    return (
      isText(delta.content) ||
      isText(delta.reasoning_content) ||
      isText(delta.reasoning) ||
      isText(delta.refusal) ||
      (Array.isArray(delta.tool_calls) && delta.tool_calls.length > 0) ||
      Boolean(delta.function_call) ||
      Boolean(delta.audio) ||
      (Array.isArray(delta.images) && delta.images.length > 0)
    );
  });
}

export function finishReasonOf(chunk: Chunk): string | null {
  for (const { finish_reason } of chunk.choices!) if (isText(finish_reason)) return finish_reason;
  return null;
}

/** The raw usage of a frame; null where it has none. Groq and Moonshot put it in places of their own. */
export function usageOf({ usage, x_groq, choices }: Chunk): unknown {
  if (isFields(usage)) return usage;
  if (isFields(x_groq?.usage)) return x_groq.usage;
  if (!Array.isArray(choices)) return null;
  for (const choice of choices) if (isFields(choice.usage)) return choice.usage;
  return null;
}

/** All generated text of a frame, as the inside of a JSON string. */
export function deliveredText(chunk: Chunk): Latin1Text {
  let text = '';
  for (const { delta } of chunk.choices ?? []) if (delta) text += generatedText(delta as Fields);
  if (text === '') return asLatin1('');
  const inside = JSON.stringify(text).slice(1, -1);
  return chunk[viaUtf8] ? encodeLatin1(inside) : asLatin1(inside);
}

function isChoice(value: unknown): value is Choice {
  return value !== null && typeof value === 'object' && (!('delta' in value) || typeof value.delta === 'object');
}
