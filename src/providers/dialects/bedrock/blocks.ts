/** Writes the items of a turn as Converse content blocks. Items without a block type are sent as the client wrote them. */
import type { TextEncoding } from '../../../wire/json-text.js';
import {
  type Conversation,
  type Fields,
  type FileItem,
  type ImageSource,
  type Item,
  isFields,
  type ReasoningItem,
  type TextItem,
} from '../chat-parts/conversation.js';
import { encodedName, toolUseId } from './names.js';

/** Marks Claude's signed thinking, which is the same on every platform. */
export const signedFormat = 'anthropic-claude-v1';
/** Marks reasoning that only Bedrock can read. */
export const redactedFormat = 'bedrock-converse-v1';

export function systemOf(texts: readonly TextItem[], encoding: TextEncoding): Fields[] | undefined {
  const blocks = texts.flatMap((text) => blocksOf(text, encoding));
  return blocks.length > 0 ? (blocks as Fields[]) : undefined;
}

/** Turns must alternate and must not be empty: neighbours of one role are merged after empty turns are dropped. */
export function messagesOf(turns: Conversation['turns'], encoding: TextEncoding): Fields[] {
  const messages: { role: string; content: unknown[] }[] = [];
  for (const { role, items } of turns) {
    const content = items.flatMap((item) => blocksOf(item, encoding));
    const last = messages.at(-1);
    // One by one: there may be more blocks than a function call can have arguments.
    if (last?.role === role) for (const block of content) last.content.push(block);
    else if (content.length > 0) messages.push({ role, content });
  }
  return messages as unknown as Fields[];
}

export function cachePoint({ cacheControl }: { cacheControl?: unknown }): Fields[] {
  if (!isFields(cacheControl)) return [];
  return [
    { cachePoint: { type: 'default', ttl: typeof cacheControl.ttl === 'string' ? cacheControl.ttl : undefined } },
  ];
}

function blocksOf(item: Item, encoding: TextEncoding): unknown[] {
  const block = blockOf(item, encoding);
  if (block === undefined) return [];
  return item.kind === 'other' || item.kind === 'reasoning' ? [block] : [block, ...cachePoint(item)];
}

function blockOf(item: Item, encoding: TextEncoding): unknown {
  switch (item.kind) {
    case 'text':
      // Bedrock rejects blank text.
      return item.text.trim() === '' ? undefined : { text: item.text };
    case 'image':
      return imageBlock(item.source);
    case 'file':
      return fileBlock(item);
    case 'reasoning':
      return reasoningBlock(item);
    case 'tool_call': {
      const { id, name, input } = item;
      return { toolUse: { toolUseId: toolUseId(id), name: encodedName(name, encoding), input } };
    }
    case 'tool_result': {
      const content = item.parts.flatMap((part) => blockOf(part, encoding) ?? []);
      return { toolResult: { toolUseId: toolUseId(item.id), content } };
    }
    default:
      return item.part;
  }
}

/** Converse takes only S3 addresses. The gateway does not fetch others, so they are passed on for Bedrock to reject. */
function imageBlock(source: ImageSource): Fields {
  if (source.kind === 'url' && !/^s3:\/\//i.test(source.url)) {
    return { type: 'image_url', image_url: { url: source.url } };
  }
  const isData = source.kind === 'data';
  const extension = isData ? source.mediaType.replace('image/', '') : /[^.]*$/.exec(source.url)![0].toLowerCase();
  const from = isData ? { bytes: source.data } : { s3Location: { uri: source.url } };
  return { image: { format: extension === 'jpg' ? 'jpeg' : extension, source: from } };
}

const documentFormats: Record<string, string> = {
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'text/html': 'html',
  'text/plain': 'txt',
  'text/markdown': 'md',
};

function fileBlock({ mediaType, data, filename, part }: FileItem): unknown {
  const source = { bytes: data };
  const [kind = '', format = ''] = mediaType.split('/');
  if (kind === 'audio' || kind === 'video') return { [kind]: { format, source } };
  const document = documentFormats[mediaType];
  if (document === undefined) return part;
  const name = (filename ?? '')
    .replace(/\.\w+$/, '')
    .replace(/[^a-zA-Z0-9 ()[\]-]+/g, ' ')
    .trim();
  return { document: { format: document, name: name === '' ? 'document' : name, source } };
}

/** Bedrock accepts reasoning only with its signature, or as redacted content. */
export function reasoningBlock({ format, text, signature, data }: ReasoningItem): Fields | undefined {
  if (format === redactedFormat && data !== null) return { reasoningContent: { redactedContent: data } };
  if (format !== signedFormat || signature === null) return undefined;
  return { reasoningContent: { reasoningText: { text: text ?? '', signature } } };
}
