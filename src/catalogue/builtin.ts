/**
 * The built-in catalogue: its files in the order of reading, and what the build has read of them. Parsing the YAML is most of
 * what a load costs, so the build leaves its values beside this file; they are used only while a file's text is the same.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

/** This file is two levels below the project, compiled or not. */
const directory = new URL('../../catalogue/', import.meta.url);
const compiled = new URL('./builtin.json', import.meta.url);

const groups = ['creators', 'clouds', 'europe', 'inference', 'self-hosted'];
const creators = [
  ...['amazon', 'anthropic', 'cohere', 'deepseek', 'google', 'meta-llama', 'minimax', 'mistralai'],
  ...['moonshotai', 'nvidia', 'openai', 'qwen', 'xai', 'zai'],
];

const names = [
  'regions.yaml',
  'sandbox.yaml',
  ...groups.map((group) => `providers/${group}.yaml`),
  ...creators.map((creator) => `models/${creator}.yaml`),
];

export interface BuiltinFile {
  readonly name: string;
  readonly url: URL;
}

export const builtinFiles: readonly BuiltinFile[] = names.map((name) => ({ name, url: new URL(name, directory) }));

/** By a file's name: the digest of its text, and the value that the text has as YAML. */
export type CompiledCatalogue = Record<string, { digest: string; value: unknown }>;

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

/** Empty where nothing was built, as in a test of the sources. */
export async function readCompiled(): Promise<CompiledCatalogue> {
  try {
    return JSON.parse(await readFile(compiled, 'utf8')) as CompiledCatalogue;
  } catch {
    return {};
  }
}
