/**
 * Translates the system prompt and the messages of a Messages request to chat messages. Two forms are made: one that every
 * OpenAI-compatible server takes, and one with cache markers, signed reasoning and images in tool results, for dialects that
 * translate it further.
 */
import { reasoningFormat } from '../../wire/anthropic-words.js';
import type { Inexpressible, OptionalField } from '../../wire/chat-request.js';
import { type Fields, isFields } from '../body.js';

export type Translated = readonly Fields[];

/** The field that the blocks are in. */
type Place = 'system' | 'messages';

interface TranslationNotes {
  readonly marked: boolean;
  readonly inexpressible: Inexpressible[];
  readonly optional: OptionalField[];
}

interface PlacedNotes extends TranslationNotes {
  readonly place: Place;
}

export function translateMessages({ system, messages }: Fields, given: TranslationNotes): Translated {
  const notes: PlacedNotes = { ...given, place: 'messages' };
  const out: Fields[] = [];
  if (system !== undefined) out.push(...systemMessages(system, { ...notes, place: 'system' }));
  for (const { role, content } of messages as Fields[]) {
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : (content as Fields[]);
    if (role === 'system') out.push(...systemMessages(blocks, notes));
    else if (role === 'assistant') out.push(assistantMessage(blocks, notes));
    else out.push(...userMessages(blocks, notes));
  }
  return out;
}

function systemMessages(system: unknown, notes: PlacedNotes): Fields[] {
  if (typeof system === 'string') return system === '' ? [] : [{ role: 'system', content: system }];
  const parts = (system as unknown[]).filter(isFields).flatMap((block) => partsOf(block, notes));
  return parts.length === 0 ? [] : [{ role: 'system', content: contentOf(parts) }];
}

function userMessages(blocks: readonly Fields[], notes: PlacedNotes): Fields[] {
  const results: Fields[] = [];
  const parts: Fields[] = [];
  for (const block of blocks) {
    if (block.type === 'tool_result') takeResult(block, results, parts, notes);
    else parts.push(...partsOf(block, notes));
  }
  // Results follow the calls directly: a chat message between them is refused.
  return parts.length === 0 ? results : [...results, { role: 'user', content: contentOf(parts) }];
}

/** Chat results are text. Images of a result come in the user message behind it, unless the dialect takes them in their place. */
function takeResult(block: Fields, results: Fields[], parts: Fields[], notes: PlacedNotes): void {
  const { tool_use_id, content, is_error, cache_control } = block;
  const blocks =
    typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content : [];
  const inside = blocks.filter(isFields).flatMap((each) => partsOf(each, notes));
  const kept = notes.marked ? inside : inside.filter(({ type }) => type === 'text');
  if (!notes.marked) parts.push(...inside.filter(({ type }) => type !== 'text'));
  if (is_error === true) markError(kept);
  results.push({
    role: 'tool',
    tool_call_id: tool_use_id,
    content: contentOf(kept),
    ...cacheMark(cache_control, notes),
  });
}

/** Chat results have no flag for errors, so the text says it. */
function markError(parts: Fields[]): void {
  const first = parts.find(({ type }) => type === 'text');
  if (first === undefined) parts.unshift({ type: 'text', text: 'Error' });
  else if (!/^\s*(?:<[a-z_]*error>|error)/i.test(String(first.text))) first.text = `Error: ${String(first.text)}`;
}

function assistantMessage(blocks: readonly Fields[], notes: PlacedNotes): Fields {
  const parts: Fields[] = [];
  const calls: Fields[] = [];
  const reasoning: Fields[] = [];
  for (const block of blocks) {
    if (block.type === 'tool_use') {
      const text = JSON.stringify(block.input ?? {});
      const call = { id: block.id, type: 'function', function: { name: block.name, arguments: text } };
      calls.push({ ...call, ...cacheMark(block.cache_control, notes) });
    } else if (block.type === 'thinking' || block.type === 'redacted_thinking') {
      noteOptional(notes, 'messages.thinking', 'cache_control');
      reasoning.push(reasoningDetail(block, reasoning.length));
    } else parts.push(...partsOf(block, notes));
  }
  return {
    role: 'assistant',
    content: parts.length === 0 ? (calls.length > 0 ? null : '') : contentOf(parts),
    ...(notes.marked && reasoning.length > 0 && { reasoning_details: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function reasoningDetail({ type, thinking, signature, data }: Fields, index: number): Fields {
  if (type === 'redacted_thinking') return { type: 'reasoning.encrypted', data, format: reasoningFormat, index };
  return { type: 'reasoning.text', text: thinking, signature, format: reasoningFormat, index };
}

/** One plain text stays a string. */
function contentOf(parts: readonly Fields[]): string | readonly Fields[] {
  const [first] = parts;
  if (first === undefined) return '';
  const isPlain = parts.length === 1 && first.type === 'text' && first.cache_control === undefined;
  return isPlain ? String(first.text) : parts;
}

/** The parts of a block; none where it has no translation, which is then noted. */
function partsOf(block: Fields, notes: PlacedNotes): Fields[] {
  const mark = cacheMark(block.cache_control, notes);
  switch (block.type) {
    case 'text':
      if (Array.isArray(block.citations) && block.citations.length > 0)
        noteOptional(notes, `${notes.place}.citations`, null);
      return [{ type: 'text', text: String(block.text), ...mark }];
    case 'image':
      return imageParts(block, mark, notes);
    case 'document':
      return documentParts(block, mark, notes);
    default:
      return cannot(notes, `does not support a \`${String(block.type)}\` block`);
  }
}

function cannot({ inexpressible, place }: PlacedNotes, reason: string): [] {
  inexpressible.push({ param: place, reason });
  return [];
}

function imageParts({ source }: Fields, mark: Fields, notes: PlacedNotes): Fields[] {
  const { type, media_type, data, url } = isFields(source) ? source : {};
  const address =
    type === 'base64' ? `data:${String(media_type)};base64,${String(data)}` : type === 'url' ? url : undefined;
  if (typeof address !== 'string') return cannot(notes, 'cannot read an image from a file of another provider');
  return [{ type: 'image_url', image_url: { url: address }, ...mark }];
}

function documentParts(block: Fields, mark: Fields, notes: PlacedNotes): Fields[] {
  const { source, title, context, citations } = block;
  if (isFields(citations) && citations.enabled === true) return cannot(notes, 'has no citations');
  const { type, media_type, data, content } = isFields(source) ? source : {};
  // Text has no name, and a chat file has one, but no context.
  if (typeof title === 'string' && type !== 'base64') noteOptional(notes, `${notes.place}.title`, null);
  if (typeof context === 'string') noteOptional(notes, `${notes.place}.context`, null);
  switch (type) {
    case 'base64': {
      const file_data = `data:${String(media_type)};base64,${String(data)}`;
      // A chat file needs a name. A dialect that translates it further makes one where it needs it.
      const named = typeof title === 'string' ? { filename: title } : notes.marked ? {} : { filename: 'document.pdf' };
      return [{ type: 'file', file: { ...named, file_data }, ...mark }];
    }
    case 'text':
      return [{ type: 'text', text: String(data), ...mark }];
    case 'content': {
      const blocks =
        typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content : [];
      const parts = blocks.filter(isFields).flatMap((each) => partsOf(each, notes));
      const last = parts.at(-1);
      return last ? [...parts.slice(0, -1), { ...last, ...mark }] : parts;
    }
    default:
      return cannot(notes, `cannot read a document from a ${String(type)} source`);
  }
}

function cacheMark(cacheControl: unknown, notes: PlacedNotes): Fields {
  if (!isFields(cacheControl)) return {};
  noteOptional(notes, 'cache_control', 'cache_control');
  return notes.marked ? { cache_control: cacheControl } : {};
}

function noteOptional({ optional }: PlacedNotes, name: string, word: string | null): void {
  if (!optional.some((each) => each.name === name)) optional.push({ name, word });
}
