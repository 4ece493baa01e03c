/** The items of a native stream as far as they were delivered, so that they can be closed where the provider does not. */

import { asLatin1, decodeLatin1, encodeLatin1 } from '../../base/latin1.js';
import { entryOf } from '../../wire/json-text.js';
import { type Fields, isFields } from '../body.js';

interface OpenItem {
  readonly item: Fields;
  readonly parts: Fields[];
}

/** The deltas of parts and of calls, and the member that they fill. */
const fills: Readonly<Record<string, string>> = {
  'response.output_text.delta': 'text',
  'response.refusal.delta': 'refusal',
  'response.reasoning_text.delta': 'text',
  'response.function_call_arguments.delta': 'arguments',
  'response.custom_tool_call_input.delta': 'input',
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
    if (member === undefined && !isItem && type !== 'response.content_part.added') return;
    const event = parsed(data);
    const index = Number(event.output_index ?? 0);
    if (!isPlace(index) || !isPlace(Number(event.content_index ?? 0))) return;
    if (type === 'response.output_item.done') {
      this.open.delete(index);
      this.done[index] = encodeLatin1(JSON.stringify(event.item));
    } else if (isItem) {
      this.open.set(index, { item: isFields(event.item) ? event.item : {}, parts: [] });
    } else this.fill(index, event, member);
  }

  private fill(index: number, event: Fields, member: string | undefined): void {
    const open = this.open.get(index);
    if (!open) return;
    const at = Number(event.content_index ?? 0);
    if (member === undefined) {
      open.parts[at] = isFields(event.part) ? event.part : {};
      return;
    }
    if (event.content_index !== undefined) open.parts[at] ??= { type: 'reasoning_text' };
    const holder = event.content_index === undefined ? open.item : open.parts[at]!;
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
    for (const [output_index, { item, parts }] of [...this.open].sort(([a], [b]) => a - b)) {
      const item_id = item.id;
      parts.forEach((part, content_index) => {
        const place = { item_id, output_index, content_index };
        if (part.type === 'output_text')
          event('response.output_text.done', { ...place, text: part.text, logprobs: [] });
        event('response.content_part.done', { ...place, part });
      });
      if (item.type === 'function_call') {
        const { name, arguments: text = '' } = item;
        event('response.function_call_arguments.done', { item_id, output_index, name, arguments: text });
      }
      const closed = { ...item, ...(parts.length > 0 && { content: parts }), status: 'incomplete' };
      event('response.output_item.done', { output_index, item: closed });
      this.done[output_index] = encodeLatin1(JSON.stringify(closed));
    }
    this.open.clear();
    return { events, sequence: next };
  }
}

function parsed(data: string): Fields {
  try {
    const value: unknown = JSON.parse(decodeLatin1(asLatin1(data)));
    return isFields(value) ? value : {};
  } catch {
    return {};
  }
}
