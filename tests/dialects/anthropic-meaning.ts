/** Reads a request to Anthropic back into OpenAI's shape. Written from Anthropic's documentation, independently of the dialect. */
import type { Json } from '../support/client.js';
import { type Meaning, type MeantPart, turnsOf } from './meaning.js';

interface Block {
  type: string;
  text?: string;
  id?: string;
  name?: string;
  input?: unknown;
  tool_use_id?: string;
  content?: string | Block[];
  source?: { type: string; url?: string; media_type?: string; data?: string };
}

interface Body {
  system?: string | Block[];
  messages: { role: 'user' | 'assistant'; content: Block[] }[];
  tools?: { name: string; description?: string; input_schema: { properties?: object } }[];
  tool_choice?: { type: string; name?: string };
  stop_sequences?: string[];
  max_tokens: number;
  temperature?: number;
  output_config?: { format?: { schema: unknown } };
}

const choices: Record<string, string> = { auto: 'auto', any: 'required', none: 'none' };

export function anthropicMeaning(json: Json): Meaning {
  const body = json as unknown as Body;
  const choice = body.tool_choice;
  return {
    system: (typeof body.system === 'string' ? [{ type: 'text', text: body.system }] : (body.system ?? [])).map(
      ({ text }) => text!,
    ),
    turns: turnsOf(body.messages.map(({ role, content }) => ({ role, parts: content.map(partOf) }))),
    tools: (body.tools ?? []).map(({ name, description, input_schema }) => ({
      name,
      description: description ?? null,
      schema: Object.keys(input_schema.properties ?? {}).length > 0 ? input_schema : null,
    })),
    toolChoice: choice ? (choices[choice.type] ?? `tool ${choice.name}`) : null,
    stop: body.stop_sequences ?? [],
    maxTokens: body.max_tokens,
    temperature: body.temperature ?? null,
    schema: body.output_config?.format?.schema ?? null,
  };
}

function partOf(block: Block): MeantPart {
  const { source } = block;
  switch (block.type) {
    case 'text':
      return { text: block.text! };
    case 'image':
      return { image: source!.type === 'url' ? source!.url! : `data:${source!.media_type};base64,${source!.data}` };
    case 'tool_use':
      return { call: block.id!, name: block.name!, input: block.input };
    default: {
      const content = block.content ?? [];
      const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
      return { result: block.tool_use_id!, parts: parts.map(partOf) };
    }
  }
}
