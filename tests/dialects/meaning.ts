/** The meaning of a chat request, independent of a dialect, and how to read it from OpenAI's format. */
import type { Json } from '../support/client.js';

export type MeantPart =
  | { text: string }
  | { image: string }
  /** `input` as a value, so that the order and spacing of JSON text do not count. */
  | { call: string; name: string; input: unknown }
  | { result: string; parts: MeantPart[] };

export interface Meaning {
  system: string[];
  turns: { role: 'user' | 'assistant'; parts: MeantPart[] }[];
  tools: { name: string; description: string | null; schema: unknown }[];
  toolChoice: string | null;
  stop: string[];
  maxTokens: number | null;
  temperature: number | null;
  schema: unknown;
}

/** Neighbours of one side are one turn; turns without anything are none. */
export function turnsOf(messages: readonly { role: 'user' | 'assistant'; parts: MeantPart[] }[]): Meaning['turns'] {
  const turns: Meaning['turns'] = [];
  for (const { role, parts } of messages) {
    const last = turns.at(-1);
    if (parts.length === 0) continue;
    if (last?.role === role) last.parts.push(...parts);
    else turns.push({ role, parts: [...parts] });
  }
  return turns;
}

interface OpenAiMessage {
  role: string;
  content?: string | null | { type: string; text?: string; image_url?: { url: string } }[];
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

interface OpenAiTool {
  function: { name: string; description?: string; parameters?: unknown };
}

export function meaningOfOpenAi(body: Json): Meaning {
  const messages = body.messages as OpenAiMessage[];
  const isSystem = ({ role }: OpenAiMessage) => role === 'system' || role === 'developer';
  const choice = body.tool_choice as string | { function: { name: string } } | undefined;
  const stop = body.stop as string | string[] | undefined;
  const format = body.response_format as { json_schema?: { schema: unknown } } | undefined;
  return {
    system: messages.filter(isSystem).flatMap((message) => textsOf(partsOf(message))),
    turns: turnsOf(
      messages
        .filter((message) => !isSystem(message))
        .map((message) => ({
          role: message.role === 'assistant' ? ('assistant' as const) : ('user' as const),
          parts: partsOf(message),
        })),
    ),
    tools: ((body.tools ?? []) as OpenAiTool[]).map(({ function: { name, description, parameters } }) => ({
      name,
      description: description ?? null,
      schema: parameters ?? null,
    })),
    toolChoice: choice === undefined ? null : typeof choice === 'string' ? choice : `tool ${choice.function.name}`,
    stop: stop === undefined ? [] : [stop].flat(),
    maxTokens: (body.max_completion_tokens ?? body.max_tokens ?? null) as number | null,
    temperature: (body.temperature ?? null) as number | null,
    schema: format?.json_schema?.schema ?? null,
  };
}

function textsOf(parts: MeantPart[]): string[] {
  return parts.flatMap((part) => ('text' in part ? [part.text] : []));
}

function partsOf(message: OpenAiMessage): MeantPart[] {
  const { content, tool_calls = [], tool_call_id } = message;
  const list = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
  const parts: MeantPart[] = [];
  for (const part of list as { text?: string; image_url?: { url: string } }[]) {
    if (part.image_url) parts.push({ image: part.image_url.url });
    else if (part.text !== '') parts.push({ text: part.text! });
  }
  if (tool_call_id !== undefined) return [{ result: tool_call_id, parts }];
  for (const { id, function: called } of tool_calls) {
    parts.push({ call: id, name: called.name, input: inputOf(called.arguments) });
  }
  return parts;
}

/** Arguments that are no object are kept as text under one key (docs/guide/dialects.md). */
function inputOf(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value;
  } catch {}
  return { arguments: text };
}
