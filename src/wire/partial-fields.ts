/**
 * Chat fields that not every provider has a place for. A request notes as bits of a number which of them ask for something, and a dialect
 * answers with the bits of those that it leaves out: numbers cost the usual request, which has none of them, nothing.
 */
import { isOrdinaryTier } from './usage.js';

type Fields = Record<string, unknown>;

export const partialBits = {
  temperature: 1 << 0,
  /** Above 1, the highest that some providers take. */
  highTemperature: 1 << 1,
  top_p: 1 << 2,
  top_k: 1 << 3,
  seed: 1 << 4,
  frequency_penalty: 1 << 5,
  presence_penalty: 1 << 6,
  stop: 1 << 7,
  user: 1 << 8,
  safety_identifier: 1 << 9,
  metadata: 1 << 10,
  /** `metadata` with a `user_id` and nothing else. */
  metadataUser: 1 << 11,
  store: 1 << 12,
  service_tier: 1 << 13,
  prediction: 1 << 14,
  verbosity: 1 << 15,
  prompt_cache_key: 1 << 16,
  prompt_cache_retention: 1 << 17,
  prompt_cache_options: 1 << 18,
  parallel_tool_calls: 1 << 19,
  reasoning_effort: 1 << 20,
  /** There are parts or tools, which may carry cache markers. */
  cache_control: 1 << 21,
  /** No message but those of the system has text that is more than blanks, or anything else. */
  blankMessages: 1 << 22,
  /** The same, without blanks. */
  emptyMessages: 1 << 23,
} as const;

type PartialField = keyof typeof partialBits;

/** The names of bits that are values of a field. */
const fieldOf: Partial<Record<PartialField, string>> = { highTemperature: 'temperature', metadataUser: 'metadata' };
/** Without its turns a conversation cannot be sent, so this is no field that can be left out. */
export const noTurns = partialBits.blankMessages | partialBits.emptyMessages;

export function bitsOf(names: readonly string[]): number {
  let bits = 0;
  for (const name of names) bits |= partialBits[name as PartialField] ?? 0;
  return bits;
}

/** The fields of some bits. */
export function fieldsOf(bits: number): string[] {
  const names: string[] = [];
  for (const name in partialBits) {
    const field = fieldOf[name as PartialField] ?? name;
    const isSet = (bits & ~noTurns & partialBits[name as PartialField]) !== 0;
    if (isSet && !names.includes(field)) names.push(field);
  }
  return names;
}

/** The bits of a whole request in the chat format. */
export function partialOf(fields: Fields): number {
  let bits = 0;
  for (const name in fields) bits |= partialBitsOf(name, fields[name]);
  return bits;
}

/** The bits of one field; 0 where its value asks for nothing. */
export function partialBitsOf(name: string, value: unknown): number {
  if (value === null || value === undefined) return 0;
  switch (name) {
    case 'temperature':
      return (value as number) > 1 ? partialBits.temperature | partialBits.highTemperature : partialBits.temperature;
    case 'top_p':
      return value === 1 ? 0 : partialBits.top_p;
    case 'frequency_penalty':
    case 'presence_penalty':
      return value === 0 ? 0 : partialBits[name];
    case 'store':
      return value === false ? 0 : partialBits.store;
    case 'parallel_tool_calls':
      return value === false ? partialBits.parallel_tool_calls : 0;
    case 'service_tier':
      return typeof value === 'string' && isOrdinaryTier(value) ? 0 : partialBits.service_tier;
    case 'metadata':
      return metadataBits(value as Fields);
    case 'messages':
      return messageBits(value as readonly Fields[]);
    case 'tools':
      return partialBits.cache_control;
    case 'stop':
      return (value as string | unknown[]).length === 0 ? 0 : partialBits.stop;
    default:
      return value === '' || !plainFields.has(name) ? 0 : partialBits[name as PartialField];
  }
}

/** Fields of which any value asks for something. */
const plainFields: ReadonlySet<string> = new Set<PartialField>([
  ...(['top_k', 'seed', 'user', 'safety_identifier', 'prediction', 'verbosity', 'reasoning_effort'] as const),
  ...(['prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options'] as const),
]);

function metadataBits(metadata: Fields): number {
  const names = typeof metadata === 'object' ? Object.keys(metadata) : ['?'];
  if (names.length === 0) return 0;
  const isUser = names.length === 1 && typeof metadata.user_id === 'string';
  return isUser ? partialBits.metadataUser : partialBits.metadata;
}

function messageBits(messages: readonly Fields[]): number {
  let bits = messages.some(({ content }) => Array.isArray(content)) ? partialBits.cache_control : 0;
  const turns = messages.filter(({ role }) => role !== 'system' && role !== 'developer');
  if (!turns.some((message) => isFilled(message, isBlank))) bits |= partialBits.blankMessages;
  if (!turns.some((message) => isFilled(message, isEmpty))) bits |= partialBits.emptyMessages;
  return bits;
}

const isEmpty = (text: string): boolean => text === '';
const isBlank = (text: string): boolean => text.trim() === '';

function isFilled({ role, content, tool_calls, refusal }: Fields, isNothing: (text: string) => boolean): boolean {
  if (role === 'tool' || (Array.isArray(tool_calls) && tool_calls.length > 0)) return true;
  const holds = (text: unknown): boolean => typeof text === 'string' && !isNothing(text);
  if (holds(content) || holds(refusal)) return true;
  if (!Array.isArray(content)) return false;
  return content.some((part) => {
    if (typeof part === 'string') return holds(part);
    return (part as Fields | null)?.type !== 'text' || holds((part as Fields).text);
  });
}
