/** The list of dialects: a new dialect is a folder beside this file and one line here. */
import { anthropic } from './anthropic/anthropic.js';
import { anthropicVertex } from './anthropic/vertex.js';
import { azure } from './azure/azure.js';
import { bedrock } from './bedrock/bedrock.js';
import { cohere } from './cohere/cohere.js';
import type { Dialect } from './dialect.js';
import { gemini } from './gemini/gemini.js';
import { openai } from './openai/openai.js';

/** By the name that a catalogue entry uses. */
export const dialects: Readonly<Record<string, Dialect>> = {
  openai,
  anthropic,
  'anthropic-vertex': anthropicVertex,
  gemini,
  bedrock,
  azure,
  cohere,
  /** The provider inside this process uses OpenAI's API. */
  sandbox: { ...openai, needsBaseUrl: false },
};

/** A routing snapshot only names dialects of the list: the catalogue refuses others when it loads. */
export function dialectOf(name: string): Dialect {
  return dialects[name]!;
}
