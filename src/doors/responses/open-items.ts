/** The items of a native stream as far as they were delivered, so that they can be closed where the provider does not. */

import { asLatin1, decodeLatin1, encodeLatin1 } from '../../base/latin1.js';
import { entryOf } from '../../wire/json-text.js';
import { type Fields, isFields } from '../body.js';

interface OpenItem {
  readonly item: Fields;
  readonly parts: Fields[];
  /** Of reasoning: the parts of its summary. */
  readonly summary: Fields[];
}

/** The deltas of parts and of calls, and the member that they fill. */
const fills: Readonly<Record<string, string>> = {
  'response.output_text.delta': 'text',
  'response.refusal.delta': 'refusal',
  'response.reasoning_text.delta': 'text',
  'response.reasoning_summary_text.delta': 'text',
  'response.function_call_arguments.delta': 'arguments',
  'response.custom_tool_call_input.delta': 'input',
};

const partsAdded = new Set(['response.content_part.added', 'response.reasoning_summary_part.added']);

/** How the text of a part, or of a call, ends: the event, and the member that repeats it. */
const ends: Readonly<Record<string, readonly [event: string, member: string]>> = {
  output_text: ['response.output_text.done', 'text'],
  refusal: ['response.refusal.done', 'refusal'],
  reasoning_text: ['response.reasoning_text.done', 'text'],
  summary_text: ['response.reasoning_summary_text.done', 'text'],
  function_call: ['response.function_call_arguments.done', 'arguments'],
  custom_tool_call: ['response.custom_tool_call_input.done', 'input'],
};

const placesMax = 10_000;

function isPlace(index: number): boolean {
  return Number.isInteger(index) && index >= 0 && index < placesMax;
}

export class OpenItems {
  private readonly open = new Map<number, OpenItem>();
  private readonly done: string[] = [];

  /** Every item, closed ones as the provider wrote them. */
  get all(): string[] {
    return this.done.filter((item) => item !== undefined);
  }

  /** Events with an index that no answer has are left alone: a list would be as long as the index says. */
  take(type: string, data: string): void {
    const member = entryOf(fills, type);
    const isItem = type === 'response.output_item.added' || type === 'response.output_item.done';
    if (member === undefined && !isItem && !partsAdded.has(type)) return;
    const event = parsed(data);
    const index = Number(event.output_index ?? 0);
    if (!isPlace(index) || !isPlace(partIndexOf(event))) return;
    if (type === 'response.output_item.done') {
      this.open.delete(index);
      this.done[index] = encodeLatin1(JSON.stringify(event.item));
    } else if (isItem) {
      this.open.set(index, { item: isFields(event.item) ? event.item : {}, parts: [], summary: [] });
    } else this.fill(index, event, member);
  }

  private fill(index: number, event: Fields, member: string | undefined): void {
    const open = this.open.get(index);
    if (!open) return;
    const at = partIndexOf(event);
    const isSummary = event.summary_index !== undefined;
    const parts = isSummary ? open.summary : open.parts;
    if (member === undefined) {
      parts[at] = isFields(event.part) ? event.part : {};
      return;
    }
    const isOfPart = isSummary || event.content_index !== undefined;
    if (isOfPart) parts[at] ??= { type: isSummary ? 'summary_text' : 'reasoning_text' };
    const holder = isOfPart ? parts[at]! : open.item;
    holder[member] = `${String(holder[member] ?? '')}${String(event.delta ?? '')}`;
  }

  /** The events that close what is open. `sequence` is the number of the first one. */
  close(sequence: number): { events: string; sequence: number } {
    let events = '';
    let next = sequence;
    const event = (type: string, fields: Fields): void => {
      const data = JSON.stringify({ type, sequence_number: next++, ...fields });
      events += `event: ${type}\ndata: ${encodeLatin1(data)}\n\n`;
    };
    const endText = (place: Fields, holder: Fields): void => {
      const [type, member] = entryOf(ends, String(holder.type)) ?? [];
      if (type === undefined || member === undefined) return;
      const { name } = holder;
      const more = holder.type === 'output_text' ? { logprobs: [] } : holder.type === 'function_call' ? { name } : {};
      event(type, { ...place, ...more, [member]: holder[member] ?? '' });
    };
    for (const [output_index, { item, parts, summary }] of [...this.open].sort(([a], [b]) => a - b)) {
      const item_id = item.id;
      summary.forEach((part, summary_index) => {
        const place = { item_id, output_index, summary_index };
        endText(place, part);
        event('response.reasoning_summary_part.done', { ...place, part });
      });
      parts.forEach((part, content_index) => {
        const place = { item_id, output_index, content_index };
        endText(place, part);
        event('response.content_part.done', { ...place, part });
      });
      endText({ item_id, output_index }, item);
      const closed = {
        ...item,
        ...(summary.length > 0 && { summary }),
        ...(parts.length > 0 && { content: parts }),
        status: 'incomplete',
      };
      event('response.output_item.done', { output_index, item: closed });
      this.done[output_index] = encodeLatin1(JSON.stringify(closed));
    }
    this.open.clear();
    return { events, sequence: next };
  }
}

function partIndexOf({ content_index, summary_index }: Fields): number {
  return Number(summary_index ?? content_index ?? 0);
}

function parsed(data: string): Fields {
  try {
    const value: unknown = JSON.parse(decodeLatin1(asLatin1(data)));
    return isFields(value) ? value : {};
  } catch {
    return {};
  }
}
