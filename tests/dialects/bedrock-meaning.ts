/** Reads a request to Bedrock back into OpenAI's shape. Written from AWS's documentation, independently of the dialect. */
import type { Json } from '../support/client.js';
import { type Meaning, type MeantPart, turnsOf } from './meaning.js';

interface Block {
  text?: string;
  image?: { format: string; source: { bytes: string } };
  toolUse?: { toolUseId: string; name: string; input: unknown };
  toolResult?: { toolUseId: string; content: Block[] };
}

interface Body {
  system?: { text: string }[];
  messages: { role: 'user' | 'assistant'; content: Block[] }[];
  toolConfig?: {
    tools: { toolSpec: { name: string; description?: string; inputSchema: { json: { properties?: object } } } }[];
    toolChoice?: { auto?: object; any?: object; tool?: { name: string } };
  };
  inferenceConfig?: { maxTokens?: number; temperature?: number; stopSequences?: string[] };
  outputConfig?: { textFormat?: { structure: { jsonSchema: { schema: string } } } };
}

export function bedrockMeaning(json: Json): Meaning {
  const body = json as unknown as Body;
  const { tools = [], toolChoice } = body.toolConfig ?? {};
  const { maxTokens = null, temperature = null, stopSequences = [] } = body.inferenceConfig ?? {};
  const schema = body.outputConfig?.textFormat?.structure.jsonSchema.schema;
  return {
    system: (body.system ?? []).map(({ text }) => text),
    turns: turnsOf(body.messages.map(({ role, content }) => ({ role, parts: content.map(partOf) }))),
    tools: tools.map(({ toolSpec: { name, description, inputSchema } }) => ({
      name,
      description: description ?? null,
      schema: Object.keys(inputSchema.json.properties ?? {}).length > 0 ? inputSchema.json : null,
    })),
    toolChoice: !toolChoice
      ? null
      : toolChoice.auto
        ? 'auto'
        : toolChoice.any
          ? 'required'
          : `tool ${toolChoice.tool!.name}`,
    stop: stopSequences,
    maxTokens,
    temperature,
    schema: schema === undefined ? null : JSON.parse(schema),
  };
}

function partOf({ text, image, toolUse, toolResult }: Block): MeantPart {
  if (image) return { image: `data:image/${image.format};base64,${image.source.bytes}` };
  if (toolUse) return { call: toolUse.toolUseId, name: toolUse.name, input: toolUse.input };
  if (toolResult) return { result: toolResult.toolUseId, parts: toolResult.content.map(partOf) };
  return { text: text! };
}
