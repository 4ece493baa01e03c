/**
 * Most events of a stream differ only in their text and in their usage figures. A shape learnt from one parsed event recognises
 * the next ones, whose text is then copied with its escapes and without parsing.
 */
import type { Latin1Text } from '../../../base/latin1.js';
import { type Fields, isFields } from '../chat-parts/conversation.js';
import { isStringInside } from '../chat-parts/stream-event.js';

const placeholder = 'lodestone:text';
const textMember = /"text":\s?"/;
/** An event with more than this around its text is like no other. */
const aroundMax = 16 * 1024;

export class PlainEvent {
  private constructor(
    private readonly prefix: string,
    /** The characters after the text, up to the first figure. */
    private readonly after: string,
    private readonly suffix: RegExp,
  ) {}

  /** From an event that holds only a piece of the first candidate's text; null for any other event. */
  static learn(data: Latin1Text, event: Fields): PlainEvent | null {
    const text = plainText(event);
    const member = text === null ? null : textMember.exec(data);
    if (member === null) return null;
    const from = member.index + member[0].length;
    const to = from + insideLength(data, from);
    const prefix = data.slice(0, from);
    const suffix = data.slice(to);
    if (prefix.length + suffix.length > aroundMax) return null;
    try {
      if (plainText(JSON.parse(prefix + placeholder + suffix)) !== placeholder) return null;
    } catch {
      return null;
    }
    const pattern = suffix
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replace(/(?<=[:,[]\s?)\d+(?=\s?(?:,|\\[}\]]))/g, '\\d+');
    return new PlainEvent(prefix, /^\D+/.exec(suffix)![0], new RegExp(`${pattern}$`, 'y'));
  }

  /** The escaped text of the event; null where the event has another shape. */
  textIn(data: Latin1Text): Latin1Text | null {
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
