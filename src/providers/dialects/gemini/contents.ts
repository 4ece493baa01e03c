/** Turns as `contents`: parts of the user and of the model. Parts that have no shape of their own go out as the caller wrote them. */
import {
  type Fields,
  type ImageSource,
  type Item,
  isFields,
  type Part,
  type TextItem,
  type ToolResultItem,
  type Turn,
} from '../chat-parts/items.js';
import { generationOf } from './request.js';

/** `messages` are the caller's own: only they have the signatures. */
export function contentsOf(turns: readonly Turn[], messages: readonly unknown[], model: string): Fields[] {
  const signatures = signaturesIn(messages);
  const demanded = generationOf(model) >= 3;
  const contents = turns.map(({ role, items }) => {
    const parts = items.flatMap((item) => partsOf(item, signatures));
    if (demanded) signFirstCall(parts);
    return { role: role === 'assistant' ? 'model' : 'user', parts };
  });
  // A turn of another provider's reasoning alone leaves nothing, and one without parts is refused.
  return contents.filter(({ parts }) => parts.length > 0);
}

/** What Google has its clients write for calls that Gemini did not make, or whose signature was lost on the way. */
const foreignCall = 'skip_thought_signature_validator';

/** From version 3 on the first call of a step must be signed (wire 4); a conversation may have begun on another route. */
function signFirstCall(parts: unknown[]): void {
  const first = parts.find((part) => isFields(part) && part.functionCall !== undefined) as Fields | undefined;
  if (first) first.thoughtSignature ??= foreignCall;
}

/** By the id of the tool call, as Google's own endpoint of OpenAI's dialect has them. */
function signaturesIn(messages: readonly unknown[]): Map<string, string> {
  const signatures = new Map<string, string>();
  for (const message of messages) {
    const calls = isFields(message) && Array.isArray(message.tool_calls) ? message.tool_calls : [];
    for (const call of calls) {
      const google = isFields(call) && isFields(call.extra_content) ? call.extra_content.google : undefined;
      const signature = isFields(google) ? google.thought_signature : undefined;
      if (typeof signature === 'string' && signature !== '') signatures.set(String(call.id), signature);
    }
  }
  return signatures;
}

function partsOf(item: Item, signatures: ReadonlyMap<string, string>): unknown[] {
  switch (item.kind) {
    case 'tool_call': {
      const { id, name, input } = item;
      return [{ functionCall: { id, name, args: input }, thoughtSignature: signatures.get(id) }];
    }
    case 'tool_result':
      return resultParts(item);
    case 'reasoning':
      return [];
    default:
      return [partOf(item)];
  }
}

function partOf(part: Part): unknown {
  switch (part.kind) {
    case 'text':
      return { text: part.text };
    case 'image':
      return imagePart(part.source);
    case 'file':
      return { inlineData: { mimeType: part.mediaType, data: part.data } };
    default:
      return part.part;
  }
}

const mediaTypes: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  heic: 'image/heic',
  heif: 'image/heif',
};

/** An address is for Google to fetch, never for the gateway. Vertex wants to be told what is there. */
function imagePart(source: ImageSource): Fields {
  if (source.kind === 'data') return { inlineData: { mimeType: source.mediaType, data: source.data } };
  const ending = /\.([a-z]{3,4})(?:[?#]|$)/i.exec(source.url)?.[1]?.toLowerCase() ?? '';
  return { fileData: { mimeType: mediaTypes[ending], fileUri: source.url } };
}

/** Results are objects here. What a tool gave besides text follows as parts of its own. */
function resultParts({ id, name, parts }: ToolResultItem): unknown[] {
  const texts = parts.filter((part): part is TextItem => part.kind === 'text').map(({ text }) => text);
  const others = parts.filter(({ kind }) => kind !== 'text').map(partOf);
  const response = texts.length > 1 ? { result: texts } : responseOf(texts[0] ?? '');
  return [{ functionResponse: { id, name: name ?? id, response } }, ...others];
}

/** Digits in such number may be an integer that a double cannot hold: then the text stays text. */
const longNumber = /\d{16}/;

function responseOf(text: string): Fields {
  if (text.startsWith('{') && !longNumber.test(text)) {
    try {
      const value: unknown = JSON.parse(text);
      if (isFields(value)) return value;
    } catch {
      // Not JSON: text, then.
    }
  }
  return { result: text };
}
