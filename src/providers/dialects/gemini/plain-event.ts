/**
 * Most events of a stream differ only in their text and in the figures of their usage. A shape learnt from one parsed event
 * recognises the next ones, whose text is then taken as it stands, escapes and all.
 */
import { type Fields, isFields } from '../chat-parts/items.js';
import { isStringInside } from '../chat-parts/json-string.js';

const place = 'lodestone:text';
const textMember = /"text":\s?"/;

export class PlainEvent {
  private constructor(
    private readonly prefix: string,
    /** What follows the text, up to the first figure. */
    private readonly after: string,
    private readonly suffix: RegExp,
  ) {}

  /** From an event that is nothing but a piece of the first candidate's text; null where it is more, or of another shape. */
  static learn(data: string, event: Fields): PlainEvent | null {
    const text = plainText(event);
    const member = text === null ? null : textMember.exec(data);
    if (member === null) return null;
    const from = member.index + member[0].length;
    const to = from + insideLength(data, from);
    const prefix = data.slice(0, from);
    const suffix = data.slice(to);
    try {
      if (plainText(JSON.parse(prefix + place + suffix)) !== place) return null;
    } catch {
      return null;
    }
    const pattern = suffix
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replace(/(?<=[:,[]\s?)\d+(?=\s?(?:,|\\[}\]]))/g, '\\d+');
    return new PlainEvent(prefix, /^\D+/.exec(suffix)![0], new RegExp(`${pattern}$`, 'y'));
  }

  /** The text inside the event, still escaped, or null where the event is not of this shape. */
  textIn(data: string): string | null {
    const from = this.prefix.length;
    if (data.slice(0, from) !== this.prefix) return null;
    const to = data.indexOf(this.after, from);
    this.suffix.lastIndex = to;
    if (to === -1 || !this.suffix.test(data)) return null;
    const inside = data.slice(from, to);
    return isStringInside(inside) ? inside : null;
  }
}

function insideLength(data: string, from: number): number {
  for (let at = from; at < data.length; at++) {
    const code = data.charCodeAt(at);
    if (code === 0x22) return at - from;
    if (code === 0x5c) at++;
  }
  return data.length - from;
}

const eventMembers = new Set(['candidates', 'usageMetadata', 'modelVersion', 'responseId', 'createTime']);
const candidateMembers = new Set(['content', 'index', 'safetyRatings']);

function plainText(event: Fields): string | null {
  const [candidate, ...others] = event.candidates as unknown[];
  if (others.length > 0 || !isFields(candidate) || (candidate.index ?? 0) !== 0) return null;
  if (!onlyHas(event, eventMembers) || !onlyHas(candidate, candidateMembers) || !isFields(candidate.content))
    return null;
  const { parts } = candidate.content;
  const [part, ...more] = Array.isArray(parts) ? (parts as unknown[]) : [];
  if (more.length > 0 || !isFields(part) || typeof part.text !== 'string') return null;
  return Object.keys(part).length === 1 ? part.text : null;
}

function onlyHas(fields: Fields, members: ReadonlySet<string>): boolean {
  return Object.keys(fields).every((name) => members.has(name));
}
