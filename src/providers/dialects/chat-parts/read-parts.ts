/** Reads the `content` of an OpenAI message as parts: a string, a list of parts, or nothing. Empty text is dropped. */
import { type Fields, type ImageSource, isFields, type Part, textOrNull } from './conversation.js';

export function readParts(content: unknown): Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }];
  if (!Array.isArray(content)) return [];
  const parts: Part[] = [];
  for (const value of content) {
    const part = readPart(value);
    if (part.kind !== 'text' || part.text !== '') parts.push(part);
  }
  return parts;
}

function readPart(value: unknown): Part {
  if (typeof value === 'string') return { kind: 'text', text: value };
  if (!isFields(value)) return { kind: 'other', part: value };
  const read = knownPart(value);
  if (read.kind !== 'other' && isFields(value.cache_control)) read.cacheControl = value.cache_control;
  return read;
}

function knownPart(part: Fields): Part {
  switch (part.type) {
    case 'text':
      if (typeof part.text === 'string') return { kind: 'text', text: part.text };
      break;
    case 'refusal':
      if (typeof part.refusal === 'string') return { kind: 'text', text: part.refusal };
      break;
    case 'image_url': {
      const url = isFields(part.image_url) ? part.image_url.url : part.image_url;
      if (typeof url === 'string') return { kind: 'image', source: imageSource(url) };
      break;
    }
    case 'file':
      return file(part);
    case 'input_audio':
      return audio(part);
    case 'thinking':
      // Mistral's thinking is a list without a signature. No provider accepts it back, so it is dropped.
      if (Array.isArray(part.thinking)) return { kind: 'text', text: '' };
      break;
  }
  return inlineFile(part) ?? { kind: 'other', part };
}

/** Other servers have their own parts for files, such as `{type: 'video_url', video_url: {url}}`; inline data is read from any of them. */
function inlineFile(part: Fields): Part | null {
  const held = part[String(part.type)];
  const url = isFields(held) ? held.url : held;
  const inline = typeof url === 'string' ? dataUrl(url) : null;
  if (inline === null) return null;
  if (inline.mediaType.startsWith('image/')) return { kind: 'image', source: imageSource(url as string) };
  return { kind: 'file', ...inline, filename: null, part };
}

function imageSource(url: string): ImageSource {
  const inline = dataUrl(url);
  if (!inline) return { kind: 'url', url };
  // Not a registered media type, but widely used. OpenAI accepts it, others do not.
  const mediaType = inline.mediaType === 'image/jpg' ? 'image/jpeg' : inline.mediaType;
  return { kind: 'data', mediaType, data: inline.data };
}

/** OpenAI's files are uploaded or inline. Only inline files mean something to another provider. */
function file(part: Fields): Part {
  const { file_data, filename } = isFields(part.file) ? part.file : {};
  const inline = typeof file_data === 'string' ? dataUrl(file_data) : null;
  return inline ? { kind: 'file', ...inline, filename: textOrNull(filename), part } : { kind: 'other', part };
}

function audio(part: Fields): Part {
  const { data, format } = isFields(part.input_audio) ? part.input_audio : {};
  if (typeof data !== 'string' || typeof format !== 'string') return { kind: 'other', part };
  return { kind: 'file', mediaType: `audio/${format}`, data, filename: null, part };
}

const dataUrlStart = /^data:([^;,]{0,255})(?:;[^;,]{0,255}){0,8}?;base64,/i;

function dataUrl(url: string): { mediaType: string; data: string } | null {
  const start = dataUrlStart.exec(url);
  return start && { mediaType: start[1]!.toLowerCase(), data: url.slice(start[0].length) };
}
