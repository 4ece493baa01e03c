/** Writes turns as `contents`. Parts without a Gemini shape are sent as the client wrote them. */
import {
  type Fields,
  type ImageSource,
  type Item,
  isFields,
  type Part,
  type TextItem,
  type ToolResultItem,
  type Turn,
} from '../chat-parts/conversation.js';
import { generationOf } from './thinking.js';

/** `messages` are the client's: only they hold the thought signatures. */
export function contentsOf(turns: readonly Turn[], messages: readonly unknown[], model: string): Fields[] {
  const signatures = signaturesIn(messages);
  const mustSign = generationOf(model) >= 3;
  const contents = turns.map(({ role, items }) => {
    const parts = items.flatMap((item) => partsOf(item, signatures));
    if (mustSign) signFirstCall(parts);
    return { role: role === 'assistant' ? 'model' : 'user', parts };
  });
  // Gemini rejects a turn without parts, which remains of a turn with only another provider's reasoning.
  return contents.filter(({ parts }) => parts.length > 0);
}

/** The value that Google documents for calls that Gemini did not make, or whose signature was lost. */
const foreignCall = 'skip_thought_signature_validator';

/** From version 3 on, the first call of a step must be signed, but a conversation may have begun on another route. */
function signFirstCall(parts: unknown[]): void {
  const first = parts.find((part) => isFields(part) && part.functionCall !== undefined) as Fields | undefined;
  if (first) first.thoughtSignature ??= foreignCall;
}

/** Signatures by tool call id, in the place that Google's own OpenAI-compatible endpoint uses. */
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

/** Google fetches addresses; the gateway never does. Vertex AI requires the media type. */
function imagePart(source: ImageSource): Fields {
  if (source.kind === 'data') return { inlineData: { mimeType: source.mediaType, data: source.data } };
  const ending = /\.([a-z]{3,4})(?:[?#]|$)/i.exec(source.url)?.[1]?.toLowerCase() ?? '';
  return { fileData: { mimeType: mediaTypes[ending], fileUri: source.url } };
}

/** Gemini's results are objects. Parts of a result other than text follow as separate parts. */
function resultParts({ id, name, parts }: ToolResultItem): unknown[] {
  const texts = parts.filter((part): part is TextItem => part.kind === 'text').map(({ text }) => text);
  const others = parts.filter(({ kind }) => kind !== 'text').map(partOf);
  const response = texts.length > 1 ? { result: texts } : responseOf(texts[0] ?? '');
  return [{ functionResponse: { id, name: name ?? id, response } }, ...others];
}

/** So many digits may be an integer that a double cannot hold: then the result stays text. */
const longNumber = /\d{16}/;

function responseOf(text: string): Fields {
  if (text.startsWith('{') && !longNumber.test(text)) {
    try {
      const value: unknown = JSON.parse(text);
      if (isFields(value)) return value;
    } catch {
      // Not JSON: sent as text.
    }
  }
  return { result: text };
}
