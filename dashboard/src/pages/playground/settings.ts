/** What the reader has set for the next request, as text, and how it becomes a part of the request. An empty field is not sent. */
import type { Parameters, PlaygroundRequest, ToolDefinition } from './request.js';

export interface Settings {
  system: string;
  stream: boolean;
  temperature: string;
  topP: string;
  maxTokens: string;
  seed: string;
  /** One sequence on each line. */
  stop: string;
  /** JSON text of a list of functions. */
  tools: string;
  /** One document on each line. */
  documents: string;
  provider: Readonly<Record<string, unknown>>;
}

export const noSettings: Settings = {
  ...{ system: '', stream: true, temperature: '', topP: '', maxTokens: '', seed: '', stop: '', tools: '' },
  ...{ documents: '', provider: {} },
};

type FromSettings = Pick<PlaygroundRequest, 'system' | 'stream' | 'parameters' | 'tools' | 'provider' | 'documents'>;

export function readSettings(settings: Settings): FromSettings {
  const { system, stream, provider } = settings;
  const tools = readTools(settings.tools);
  return {
    ...{ system: system.trim(), stream, provider },
    parameters: readParameters(settings),
    tools: typeof tools === 'string' ? [] : tools,
    documents: lines(settings.documents),
  };
}

function readParameters({ temperature, topP, maxTokens, seed, stop }: Settings): Parameters {
  const numbers = { temperature, topP, maxTokens, seed };
  const read = Object.entries(numbers).flatMap(([name, text]) => (isNumber(text) ? [[name, Number(text)]] : []));
  return { ...Object.fromEntries(read), ...(lines(stop).length > 0 && { stop: lines(stop) }) };
}

export function isNumber(text: string): boolean {
  return text.trim() !== '' && Number.isFinite(Number(text));
}

function lines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
}

/** The functions, or what is wrong with the text. */
export function readTools(text: string): ToolDefinition[] | string {
  if (text.trim() === '') return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `This is not JSON: ${(error as Error).message}`;
  }
  const list = Array.isArray(value) ? value : [value];
  const tools = list.map((entry) => definitionOf(entry));
  return tools.every((tool) => tool !== null)
    ? (tools as ToolDefinition[])
    : 'Each tool is an object with a "name" and "parameters".';
}

/** The definition as any of the client APIs writes it. */
function definitionOf(entry: unknown): ToolDefinition | null {
  if (typeof entry !== 'object' || entry === null) return null;
  const { function: inside, ...own } = entry as Record<string, unknown>;
  const { name, description, parameters, input_schema: schema } = (inside ?? own) as Record<string, unknown>;
  if (typeof name !== 'string') return null;
  return {
    name,
    ...(typeof description === 'string' && { description }),
    parameters: (parameters ?? schema ?? { type: 'object', properties: {} }) as object,
  };
}

export const exampleTools = JSON.stringify(
  [
    {
      name: 'get_weather',
      description: 'The weather in a city now',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  ],
  null,
  2,
);
