/** The dialects that this version speaks, one line each. */

import { anthropic } from './anthropic/adapter.js';
import { azure } from './azure/adapter.js';
import { bedrock } from './bedrock/adapter.js';
import type { Adapter } from './dialect.js';
import { gemini } from './gemini/adapter.js';
import { openai } from './openai/adapter.js';

export const adapters = {
  openai,
  azure,
  anthropic,
  gemini,
  bedrock,
  /** The provider inside the process speaks OpenAI's dialect. */
  sandbox: openai,
} as const satisfies Record<string, Adapter>;

export type SpokenDialect = keyof typeof adapters;

export const spokenDialects = Object.keys(adapters) as SpokenDialect[];

/** A snapshot has only dialects that are spoken here: its loader refuses others. */
export function adapterOf(dialect: string): Adapter {
  return adapters[dialect as SpokenDialect];
}
