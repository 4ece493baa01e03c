/**
 * Translates the instructions and the items of a Responses request to chat messages: neighbouring items of the assistant become one
 * message, outputs of functions become tool messages.
 */
import type { Inexpressible, OptionalField } from '../../wire/chat-request.js';
import type { TextEncoding } from '../../wire/json-text.js';
import { type Fields, isFields } from '../body.js';
import { unpackReasoning } from './packed-reasoning.js';

interface InputNotes {
  /** With reasoning and images in results, for dialects that can express them. */
  readonly marked: boolean;
  readonly encoding: TextEncoding;
  readonly inexpressible: Inexpressible[];
  readonly optional: OptionalField[];
}

export function translateInput({ instructions, input }: Fields, notes: InputNotes): Fields[] {
  const out: Fields[] = [];
  if (typeof instructions === 'string' && instructions !== '') out.push({ role: 'system', content: instructions });
  if (typeof input === 'string') return [...out, { role: 'user', content: input }];
  /** Images of results, which come behind the results of a round. */
  let images: Fields[] = [];
  const endResults = (): void => {
    if (images.length > 0) out.push({ role: 'user', content: images });
    images = [];
  };
  for (const item of (input ?? []) as Fields[]) {
    if (item.type === 'function_call_output') {
      const parts = partsOf(item.output, notes);
      const inPlace = notes.marked ? parts : parts.filter(({ type }) => type === 'text');
      if (!notes.marked) images.push(...parts.filter(({ type }) => type !== 'text'));
      out.push({ role: 'tool', tool_call_id: item.call_id, content: contentOf(inPlace) });
      continue;
    }
    endResults();
    takeItem(item, out, notes);
  }
  endResults();
  return out;
}

function takeItem(item: Fields, out: Fields[], notes: InputNotes): void {
  switch (item.type) {
    case undefined:
    case null:
    case 'message':
      takeMessage(item, out, notes);
      break;
    case 'function_call': {
      const called = { name: item.name, arguments: String(item.arguments ?? '{}') };
      const call = { id: item.call_id, type: 'function', function: called };
      const message = assistantIn(out);
      message.tool_calls ??= [];
      (message.tool_calls as Fields[]).push(call);
      break;
    }
    case 'reasoning':
      takeReasoning(item, out, notes);
      break;
    default:
      notes.inexpressible.push({
        param: 'input',
        reason: `does not support an item of the type "${String(item.type)}"`,
      });
  }
}

function takeMessage({ role, content }: Fields, out: Fields[], notes: InputNotes): void {
  const parts = partsOf(content, notes);
  if (role === 'assistant') {
    const message = assistantIn(out, true);
    message.content = contentOf(parts);
    return;
  }
  // Not every server knows the newer name of the system role.
  out.push({ role: role === 'developer' ? 'system' : role, content: contentOf(parts) });
}

/** The assistant's message that is being put together; a text begins a new one where there are calls or text already. */
function assistantIn(out: Fields[], forText = false): Fields {
  const last = out.at(-1);
  if (last?.role === 'assistant' && !(forText && (last.tool_calls !== undefined || last.content !== null))) return last;
  const message: Fields = { role: 'assistant', content: null };
  out.push(message);
  return message;
}

/** Reasoning of this gateway comes back packed; that of others, and readable text, no other API takes. */
function takeReasoning({ encrypted_content }: Fields, out: Fields[], notes: InputNotes): void {
  const details = unpackReasoning(encrypted_content, notes.encoding);
  const word = details ? 'cache_control' : null;
  if (!notes.optional.some(({ name }) => name === 'input.reasoning')) {
    notes.optional.push({ name: 'input.reasoning', word });
  }
  if (!notes.marked || !details) return;
  out.push({ role: 'assistant', content: null, reasoning_details: details });
}

function contentOf(parts: readonly Fields[]): string | readonly Fields[] {
  const [first] = parts;
  if (first === undefined) return '';
  return parts.length === 1 && first.type === 'text' ? String(first.text) : parts;
}

function partsOf(content: unknown, notes: InputNotes): Fields[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return [];
  return content.filter(isFields).flatMap((part) => partOf(part, notes));
}

function partOf(part: Fields, notes: InputNotes): Fields[] {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return [{ type: 'text', text: String(part.text ?? '') }];
    case 'refusal':
      return [{ type: 'text', text: String(part.refusal ?? '') }];
    case 'input_image':
      if (typeof part.image_url !== 'string') return cannot(notes, 'cannot read an image from a stored file');
      return [
        {
          type: 'image_url',
          image_url: { url: part.image_url, ...(isDetail(part.detail) && { detail: part.detail }) },
        },
      ];
    case 'input_file':
      if (typeof part.file_data !== 'string') return cannot(notes, 'cannot read a file that is not sent as data');
      return [{ type: 'file', file: { filename: part.filename, file_data: part.file_data } }];
    default:
      return cannot(notes, `does not support content of the type "${String(part.type)}"`);
  }
}

function isDetail(detail: unknown): boolean {
  return detail === 'low' || detail === 'high';
}

function cannot({ inexpressible }: InputNotes, reason: string): [] {
  inexpressible.push({ param: 'input', reason });
  return [];
}
