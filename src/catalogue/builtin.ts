/**
 * The files of the built-in catalogue, in the order of reading. Parsing YAML is most of the cost of a load, so the build stores the
 * parsed values beside this file; they are used only while the text of a file is unchanged.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { YamlSource } from '../base/yaml-source.js';
import type { CatalogueValues } from './update.js';

/**
 * The version of these files: the day of their last change. An update that is older is not used, so a change of the files raises it; a
 * second one of a day has `.2` at the end.
 */
export const builtinVersion = '2026.11.18.5';

/** This file is two levels below the project, compiled or not. */
const directory = new URL('../../catalogue/', import.meta.url);
const compiled = new URL('./builtin.json', import.meta.url);

const groups = ['creators', 'clouds', 'europe', 'inference', 'self-hosted'];
const creators = [
  ...['amazon', 'anthropic', 'cohere', 'deepseek', 'google', 'meta-llama', 'minimax', 'mistralai'],
  ...['moonshotai', 'nvidia', 'openai', 'qwen', 'xai', 'zai', 'others'],
];

/** Routes of models that the files above have, for providers of models of many makers. */
const additions = ['azure-eu', 'europe', 'inference', 'vertex-claude'];

const names = [
  'currencies.yaml',
  'regions.yaml',
  'sandbox.yaml',
  ...groups.map((group) => `providers/${group}.yaml`),
  ...creators.map((creator) => `models/${creator}.yaml`),
  'models/retrieval.yaml',
  'models/speakleash.yaml',
  ...additions.map((group) => `routes/${group}.yaml`),
];

interface BuiltinFile {
  readonly name: string;
  readonly url: URL;
}

export const builtinFiles: readonly BuiltinFile[] = names.map((name) => ({ name, url: new URL(name, directory) }));

/** By file name: the digest of the text and its parsed value. */
export type CompiledCatalogue = Record<string, { digest: string; value: unknown }>;

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

/** Empty where there is no build, as in unit tests. */
export async function readCompiled(): Promise<CompiledCatalogue> {
  try {
    return JSON.parse(await readFile(compiled, 'utf8')) as CompiledCatalogue;
  } catch {
    return {};
  }
}

/** The parsed values of the built-in files, by name. */
export async function builtinValues(): Promise<CatalogueValues> {
  const compiled = await readCompiled();
  const values: Record<string, unknown> = {};
  for (const { name, url } of builtinFiles) {
    const text = await readFile(url, 'utf8');
    values[name] = compiled[name]?.digest === digestOf(text) ? compiled[name].value : new YamlSource(name, text).value;
  }
  return values;
}
