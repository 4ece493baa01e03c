/** OpenAI's stream chunk: reading one with suspicion, and writing it under our own id and model. Text is latin1 (see json-text). */
import { isFields, isText } from './message.js';

export interface Delta {
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
  error?: unknown;
  router_metadata?: unknown;
  x_groq?: { usage?: unknown };
  /** Set where the text held escapes and was read as UTF-8: it is written back through UTF-8. */
  [viaUtf8]?: true;
}

const viaUtf8 = Symbol('read as UTF-8');

/** null where the data is no JSON object with choices that can be read. */
export function parseChunk(data: string): Chunk | null {
  const escaped = data.includes('\\u');
  try {
    const value: unknown = JSON.parse(escaped ? Buffer.from(data, 'latin1').toString('utf8') : data);
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
  /** The caller asked for usage: then, as with OpenAI, every other frame has `usage: null`. */
  includeUsage: boolean;
}

/** `data: …\n\n` with our id, object, created and model; usage never rides on a content frame. */
export function writeChunk(chunk: Chunk, as: ChunkIdentity, metadata?: string): string {
  const text = JSON.stringify(renamed(chunk, as));
  const bytes = chunk[viaUtf8] ? Buffer.from(text, 'utf8').toString('latin1') : text;
  return metadata === undefined
    ? `data: ${bytes}\n\n`
    : `data: ${bytes.slice(0, -1)},"router_metadata":${metadata}}\n\n`;
}

export function renamed(chunk: Chunk, { id, created, model, includeUsage }: ChunkIdentity): Chunk {
  const { usage, router_metadata, x_groq, error, ...kept } = chunk;
  const out: Chunk = { ...kept, id, object: 'chat.completion.chunk', created, model };
  return includeUsage ? { ...out, usage: null } : out;
}

/** True where a frame carries content, reasoning or a tool call: the first such frame commits the 200. */
export function contentOf(chunk: Chunk): boolean {
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

/** The usage that a frame carries, unread; null where it carries none. Groq and Moonshot have places of their own for it. */
export function usageOf({ usage, x_groq, choices }: Chunk): unknown {
  if (isFields(usage)) return usage;
  if (isFields(x_groq?.usage)) return x_groq.usage;
  if (!Array.isArray(choices)) return null;
  for (const choice of choices) if (isFields(choice.usage)) return choice.usage;
  return null;
}

/** Everything that was generated in a frame, as the inside of a JSON string in latin1. */
export function deliveredText(chunk: Chunk): string {
  let text = '';
  for (const { delta } of chunk.choices ?? []) {
    if (!delta) continue;
    if (isText(delta.content)) text += delta.content;
    // Reasoning has two names, and is one text.
    if (isText(delta.reasoning_content)) text += delta.reasoning_content;
    else if (isText(delta.reasoning)) text += delta.reasoning;
    if (isText(delta.refusal)) text += delta.refusal;
    if (Array.isArray(delta.tool_calls)) text += toolCallText(delta.tool_calls);
  }
  if (text === '') return '';
  const inside = JSON.stringify(text).slice(1, -1);
  return chunk[viaUtf8] ? Buffer.from(inside, 'utf8').toString('latin1') : inside;
}

function toolCallText(calls: { function?: { name?: unknown; arguments?: unknown } }[]): string {
  let text = '';
  for (const call of calls) {
    if (isText(call?.function?.name)) text += call.function.name;
    if (isText(call?.function?.arguments)) text += call.function.arguments;
  }
  return text;
}

function isChoice(value: unknown): value is Choice {
  return value !== null && typeof value === 'object' && (!('delta' in value) || typeof value.delta === 'object');
}
