/**
 * OpenAI's messages as a conversation of alternating turns: system and developer messages are hoisted, tool results join the
 * user's turn, neighbours of one side become one turn, and a message that says nothing is left out. It refuses nothing.
 */
import {
  type Conversation,
  type Fields,
  type Item,
  isFields,
  type ReasoningItem,
  type TextItem,
  type ToolCallItem,
  type ToolResultItem,
  type Turn,
  textOrNull,
} from './items.js';
import { readParts } from './read-parts.js';

export function readMessages(messages: readonly unknown[]): Conversation {
  const system: TextItem[] = [];
  const turns: Turn[] = [];
  const names = new Map<string, string>();
  for (const message of messages) {
    const fields = message as Fields;
    const items = itemsOf(fields, names);
    mark(items, fields.cache_control);
    if (fields.role === 'system' || fields.role === 'developer') {
      for (const item of items) {
        // No dialect has anything but text there; what else was sent is said by the user, and so not lost.
        if (item.kind === 'text') system.push(item);
        else add(turns, 'user', [item]);
      }
    } else {
      add(turns, fields.role === 'assistant' ? 'assistant' : 'user', items);
    }
  }
  return { system, turns };
}

function itemsOf(message: Fields, names: Map<string, string>): Item[] {
  if (message.role === 'tool') return [toolResult(message, names)];
  if (message.role === 'assistant') return assistantItems(message, names);
  return readParts(message.content);
}

function add(turns: Turn[], role: Turn['role'], items: Item[]): void {
  if (items.length === 0) return;
  const last = turns.at(-1);
  if (last?.role !== role) {
    turns.push({ role, items });
    return;
  }
  // One by one: a message may have more parts than a call may have arguments.
  for (const item of items) last.items.push(item);
}

/** A marker on a whole message stands behind its last part. */
function mark(items: Item[], cacheControl: unknown): void {
  const last = items.at(-1);
  if (isFields(cacheControl) && last && last.kind !== 'other' && last.kind !== 'reasoning') {
    last.cacheControl = cacheControl;
  }
}

function assistantItems(message: Fields, names: Map<string, string>): Item[] {
  const items: Item[] = [...reasoning(message.reasoning_details), ...readParts(message.content)];
  const refusal = textOrNull(message.refusal);
  if (refusal !== null) items.push({ kind: 'text', text: refusal });
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls : [];
  for (const call of calls) items.push(toolCall(call, names));
  return items;
}

function reasoning(details: unknown): ReasoningItem[] {
  if (!Array.isArray(details)) return [];
  return details.filter(isFields).map(({ format, text, signature, data, id }) => ({
    kind: 'reasoning',
    format: textOrNull(format),
    text: textOrNull(text),
    signature: textOrNull(signature),
    data: textOrNull(data),
    id: textOrNull(id),
  }));
}

function toolCall(call: unknown, names: Map<string, string>): Item {
  const fields = isFields(call) ? call : {};
  const { name, arguments: text } = isFields(fields.function) ? fields.function : {};
  if (typeof fields.id !== 'string' || typeof name !== 'string') return { kind: 'other', part: call };
  names.set(fields.id, name);
  const item: ToolCallItem = { kind: 'tool_call', id: fields.id, name, input: inputOf(text) };
  if (isFields(fields.cache_control)) item.cacheControl = fields.cache_control;
  return item;
}

/**
 * Arguments are text with OpenAI and an object elsewhere. A model may have written text that is no object, and the caller
 * must be able to go on from there: such text is sent whole, under one key.
 */
export function inputOf(text: unknown): Fields {
  if (isFields(text)) return text;
  if (typeof text !== 'string' || text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isFields(value)) return value;
  } catch {
    // Not JSON at all: the same as JSON that is no object.
  }
  return { arguments: text };
}

function toolResult(message: Fields, names: Map<string, string>): ToolResultItem {
  const id = message.tool_call_id as string;
  const name = names.get(id) ?? textOrNull(message.name);
  return { kind: 'tool_result', id, name, parts: readParts(message.content) };
}
