/** Collects the strings of a request as it was sent, keys and values alike: a provider's error may repeat any of them. */
import type { ChatRequest } from '../../wire/chat-request.js';
import { plainText } from '../../wire/json-text.js';
import { dialects } from '../dialects/registry.js';
import { NormalizedText, startsString } from './normalized-text.js';

/** The client's request and the body that was sent for it, as JSON text. */
export interface SentTexts {
  readonly texts: readonly string[];
  /** Strings in the texts that the operator chose, not the client: the name of the model. */
  readonly ours: readonly string[];
}

export const nothingSent: SentTexts = { texts: [], ours: [] };

/** A request as it is kept in memory and passed between threads. */
export interface SentBytes {
  readonly body: string | Uint8Array;
  /** The client's request, where the body is a translation of it. */
  readonly request: { readonly members: string | Uint8Array; readonly encoding: ChatRequest['encoding'] } | null;
  readonly ours: readonly string[];
}

export function sentTexts({ body, request, ours }: SentBytes): SentTexts {
  const texts = [textOf(body, 'latin1')];
  if (request) texts.push(textOf(request.members, request.encoding));
  return { texts, ours };
}

function textOf(text: string | Uint8Array, encoding: ChatRequest['encoding']): string {
  if (typeof text === 'string') return plainText(text, encoding);
  return Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString('utf8');
}

export class SentStrings {
  readonly normalized: NormalizedText;
  private spaced: string | null = null;

  constructor({ texts, ours }: SentTexts) {
    this.normalized = new NormalizedText(texts.reduce((sum, { length }) => sum + length, 0));
    for (const text of texts) this.read(withoutModel(text, ours), new Set(ours));
  }

  /** Whether a word occurs in any of the strings, also inside a longer word. */
  has(word: string): boolean {
    this.spaced ??= this.normalized.spacedText();
    return this.spaced.includes(word);
  }

  /** Splits JSON text at its quotation marks. Parsing it could create millions of values. */
  private read(text: string, ours: ReadonlySet<string>): void {
    let start = text.indexOf('"') + 1;
    while (start > 0) {
      const end = endOfString(text, start);
      const short = end - start <= 40 ? text.slice(start, end) : '';
      if (!protocolNames.has(short) && !ours.has(short)) this.take(text, start, end);
      start = text.indexOf('"', end + 1) + 1;
    }
  }

  private take(text: string, start: number, end: number): void {
    this.normalized.add(text, start, end, startsString);
    if (!/^\s*[{[]/.test(text.slice(start, start + 8))) return;
    // JSON inside a string: a provider may parse it and repeat one of its strings.
    let from = start;
    while (from < end) {
      const quote = text.indexOf('"', from);
      const to = quote < 0 || quote > end ? end : quote;
      this.normalized.add(text, from, to, startsString);
      from = to + 1;
    }
  }
}

/** Removes the member `model` once, and the role of that name in Gemini's dialect. */
function withoutModel(text: string, ours: readonly string[]): string {
  const plain = ours.reduce((rest, model) => rest.replace(`"model":${JSON.stringify(model)}`, ''), text);
  return plain.replaceAll('"role":"model"', '');
}

function endOfString(text: string, start: number): number {
  let from = start;
  for (;;) {
    const end = text.indexOf('"', from);
    if (end < 0) return text.length;
    let before = end;
    while (before > start && text.charCodeAt(before - 1) === 92) before--;
    if ((end - before) % 2 === 0) return end;
    from = end + 1;
  }
}

const jsonSchemaNames =
  'properties required description additionalProperties enum items anyOf oneOf allOf not $ref $defs $schema definitions object string number integer boolean array null title default minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern minItems maxItems uniqueItems const examples nullable';

/**
 * Names that the protocols define. They are in every request and no client chose them. `model` is not one of them: in an error
 * it decides the meaning, and a client may use it as the name of a tool or a property.
 */
const protocolNames: ReadonlySet<string> = new Set(
  [jsonSchemaNames, ...Object.values(dialects).map((dialect) => dialect.protocolNames)].flatMap((names) =>
    names.split(' '),
  ),
);
