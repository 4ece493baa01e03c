/** Reads secrets that the configuration or the environment names by a file: each has a field `<name>_file` beside its own. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { z } from 'zod';
import { credential } from '../base/yaml-fields.js';
import { describeValue, type YamlSource } from '../base/yaml-source.js';
import type { FileValues } from './config-schema.js';
import type { Setting } from './setting.js';
import { sections, topLevel } from './settings.js';

/** A secret, and the mapping of the file that has it. */
interface SecretField {
  readonly path: readonly (string | number)[];
  readonly within: FileValues;
  readonly accepts: z.ZodType;
}

/** Puts the text of each file in the place of the secret. Paths start at `directory`. */
export function readSecretFiles(source: YamlSource, values: FileValues, directory: string): void {
  for (const { path, within, accepts } of secretsOf(values)) {
    const name = String(path.at(-1));
    const file = within[`${name}_file`];
    if (file == null) continue;
    const place = [...path.slice(0, -1), `${name}_file`];
    // Also where the secret names an absent variable: which of the two is meant is not clear.
    if (within[name] != null || source.valueAt(path) != null) {
      source.faultAt(place, `found a file beside ${path.join('.')}, expected one of the two`);
      continue;
    }
    const read = readSecret(resolve(directory, String(file)), accepts);
    if ('fault' in read) source.faultAt(place, `${describeValue(file)} ${read.fault}`);
    else within[name] = read.value;
  }
}

/** The value of the file that a variable names; `fault` says what is wrong with it. */
export function readSecret(path: string, accepts: z.ZodType): { value: unknown } | { fault: string } {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return { fault: `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'}), expected a file` };
  }
  // Editors and `echo` end a file with a line break, which belongs to no secret.
  const result = accepts.safeParse(text.replace(/[\r\n]+$/, ''));
  return result.success
    ? { value: result.data }
    : { fault: `has another content, expected ${result.error.issues[0]?.message}` };
}

function secretsOf(values: FileValues): SecretField[] {
  const found = secretRows(topLevel, values, []);
  for (const [name, rows] of Object.entries(sections)) {
    if (values[name]) found.push(...secretRows(rows, values[name] as FileValues, [name]));
  }
  const { webhook } = (values.notices ?? {}) as { webhook?: FileValues | null };
  if (webhook) found.push({ path: ['notices', 'webhook', 'secret'], within: webhook, accepts: credential });
  const { oidc } = (values.sign_in ?? {}) as { oidc?: FileValues[] | null };
  for (const [index, within] of (oidc ?? []).entries()) {
    found.push({ path: ['sign_in', 'oidc', index, 'client_secret'], within, accepts: credential });
  }
  for (const [id, provider] of Object.entries((values.providers ?? {}) as Record<string, FileValues | null>)) {
    if (!provider) continue;
    const path = ['providers', id];
    found.push({ path: [...path, 'api_key'], within: provider, accepts: credential });
    for (const [index, within] of ((provider.keys ?? []) as FileValues[]).entries())
      found.push({ path: [...path, 'keys', index, 'api_key'], within, accepts: credential });
  }
  return found;
}

function secretRows(rows: Readonly<Record<string, Setting>>, within: FileValues, above: readonly string[]) {
  return Object.entries(rows)
    .filter(([, { isSecret }]) => isSecret)
    .map(([key, { accepts }]): SecretField => ({ path: [...above, key], within, accepts }));
}
