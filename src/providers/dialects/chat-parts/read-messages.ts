/**
 * Converts OpenAI messages to a conversation of alternating turns: system and developer messages are moved to the front, tool
 * results join the user's turn, neighbours of one role are merged, and empty messages are dropped. It rejects nothing.
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
} from './conversation.js';
import { readParts } from './read-parts.js';

export function readMessages(messages: readonly unknown[]): Conversation {
  const system: TextItem[] = [];
  const turns: Turn[] = [];
  const names = new Map<string, string>();
  for (const message of messages) {
    const fields = message as Fields;
    const items = itemsOf(fields, names);
    markLast(items, fields.cache_control);
    if (fields.role === 'system' || fields.role === 'developer') {
      for (const item of items) {
        // System prompts are text in every dialect; other parts move to a user turn, so that they are not lost.
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
  // One by one: a message may have more parts than a function call can have arguments.
  for (const item of items) last.items.push(item);
}

/** A cache marker on a message belongs to its last part. */
function markLast(items: Item[], cacheControl: unknown): void {
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
 * Arguments are text with OpenAI and an object elsewhere. A model may have written text that is not an object, and the
 * conversation must be able to continue: such text is sent under one key.
 */
function inputOf(text: unknown): Fields {
  if (isFields(text)) return text;
  if (typeof text !== 'string' || text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isFields(value)) return value;
  } catch {
    // Not JSON: handled like JSON that is not an object.
  }
  return { arguments: text };
}

function toolResult(message: Fields, names: Map<string, string>): ToolResultItem {
  const id = message.tool_call_id as string;
  const name = names.get(id) ?? textOrNull(message.name);
  return { kind: 'tool_result', id, name, parts: readParts(message.content) };
}
