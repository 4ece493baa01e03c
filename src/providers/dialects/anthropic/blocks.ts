/** Writes the items of a turn as content blocks of the Messages API. Items without a block type are sent as the client wrote them. */
import { reasoningFormat } from '../../../wire/anthropic-words.js';
import type {
  Conversation,
  Fields,
  FileItem,
  ImageItem,
  Item,
  ReasoningItem,
  TextItem,
  ToolResultItem,
} from '../chat-parts/conversation.js';

/** A single text stays a string; several stay separate, with their cache markers. */
export function systemOf(items: readonly TextItem[]): string | Fields[] | undefined {
  const texts = items.filter((item) => !isBlank(item));
  const [first] = texts;
  if (!first) return undefined;
  return texts.length === 1 && first.cacheControl === undefined ? first.text : texts.map(textBlock);
}

/** Anthropic rejects turns without content, so a turn with nothing left, such as another provider's reasoning alone, is dropped. */
export function messagesOf(turns: Conversation['turns']): Fields[] {
  return turns
    .map(({ role, items }) => ({ role, content: blocksOf(items) }))
    .filter(({ content }) => content.length > 0);
}

function blocksOf(items: readonly Item[]): unknown[] {
  const blocks: unknown[] = [];
  for (const item of items) {
    const block = blockOf(item);
    if (block !== undefined) blocks.push(block);
  }
  return blocks;
}

function blockOf(item: Item): unknown {
  switch (item.kind) {
    case 'text':
      return isBlank(item) ? undefined : textBlock(item);
    case 'image':
      return imageBlock(item);
    case 'file':
      return fileBlock(item);
    case 'reasoning':
      return thinkingBlock(item);
    case 'tool_call':
      return {
        type: 'tool_use',
        id: toolUseId(item.id),
        name: item.name,
        input: item.input,
        cache_control: item.cacheControl,
      };
    case 'tool_result':
      return resultBlock(item);
    default:
      return item.part;
  }
}

/** Anthropic rejects blank text. Models write it before they call a tool. */
function isBlank({ text }: TextItem): boolean {
  return text.trim() === '';
}

function textBlock({ text, cacheControl }: TextItem): Fields {
  return { type: 'text', text, cache_control: cacheControl };
}

function imageBlock({ source, cacheControl }: ImageItem): Fields {
  const from =
    source.kind === 'url'
      ? { type: 'url', url: source.url }
      : { type: 'base64', media_type: source.mediaType, data: source.data };
  return { type: 'image', source: from, cache_control: cacheControl };
}

/** Files are documents; there is no block for audio. */
function fileBlock({ mediaType, data, filename, part, cacheControl }: FileItem): unknown {
  if (mediaType.startsWith('audio/')) return part;
  const source = { type: 'base64', media_type: mediaType, data };
  return { type: 'document', source, title: filename ?? undefined, cache_control: cacheControl };
}

/** Anthropic accepts reasoning only with its own signature; reasoning of other providers has none. */
export function thinkingBlock({ format, text, signature, data }: ReasoningItem): Fields | undefined {
  if (format !== reasoningFormat) return undefined;
  if (data !== null) return { type: 'redacted_thinking', data };
  return signature === null ? undefined : { type: 'thinking', thinking: text ?? '', signature };
}

function resultBlock({ id, parts, cacheControl }: ToolResultItem): Fields {
  const [first] = parts;
  const plain = parts.length === 1 && first!.kind === 'text' && first!.cacheControl === undefined;
  return {
    type: 'tool_result',
    tool_use_id: toolUseId(id),
    content: plain ? (first as TextItem).text : parts.length > 0 ? blocksOf(parts) : undefined,
    cache_control: cacheControl,
  };
}

/** A conversation may have begun on another route, whose ids have characters that Anthropic rejects. */
function toolUseId(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, '_');
}
