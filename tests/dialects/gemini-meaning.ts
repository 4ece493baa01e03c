/** Reads a request to Gemini back into OpenAI's shape. Written from Google's documentation, independently of the dialect. */
import type { Json } from '../support/client.js';
import { type Meaning, type MeantPart, turnsOf } from './meaning.js';

interface Part {
  text?: string;
  inlineData?: { mimeType: string; data: string };
  functionCall?: { id: string; name: string; args: unknown };
  functionResponse?: { id: string; name: string; response: { result?: string | string[] } };
}

interface Body {
  systemInstruction?: { parts: Part[] };
  contents: { role: 'user' | 'model'; parts: Part[] }[];
  tools?: { functionDeclarations: { name: string; description?: string; parametersJsonSchema?: unknown }[] }[];
  toolConfig?: { functionCallingConfig: { mode: string; allowedFunctionNames?: string[] } };
  generationConfig?: {
    stopSequences?: string[];
    maxOutputTokens?: number;
    temperature?: number;
    responseJsonSchema?: unknown;
  };
}

const choices: Record<string, string> = { AUTO: 'auto', ANY: 'required', NONE: 'none' };

export function geminiMeaning(json: Json): Meaning {
  const body = json as unknown as Body;
  const { mode, allowedFunctionNames } = body.toolConfig?.functionCallingConfig ?? {};
  const config = body.generationConfig ?? {};
  const named = allowedFunctionNames ? `tool ${allowedFunctionNames[0]}` : undefined;
  return {
    system: (body.systemInstruction?.parts ?? []).map(({ text }) => text!),
    turns: turnsOf(
      body.contents.map(({ role, parts }) => ({
        role: role === 'model' ? ('assistant' as const) : role,
        parts: parts.map(partOf),
      })),
    ),
    tools: (body.tools ?? [])
      .flatMap(({ functionDeclarations }) => functionDeclarations)
      .map(({ name, description, parametersJsonSchema }) => ({
        name,
        description: description ?? null,
        schema: parametersJsonSchema ?? null,
      })),
    toolChoice: mode === undefined ? null : (named ?? choices[mode]!),
    stop: config.stopSequences ?? [],
    maxTokens: config.maxOutputTokens ?? null,
    temperature: config.temperature ?? null,
    schema: config.responseJsonSchema ?? null,
  };
}

function partOf({ text, inlineData, functionCall, functionResponse }: Part): MeantPart {
  if (inlineData) return { image: `data:${inlineData.mimeType};base64,${inlineData.data}` };
  if (functionCall) return { call: functionCall.id, name: functionCall.name, input: functionCall.args };
  if (!functionResponse) return { text: text! };
  const { id, response } = functionResponse;
  return { result: id, parts: [response.result!].flat().map((each) => ({ text: each })) };
}
