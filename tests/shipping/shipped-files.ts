/** Reads what is shipped beside the code (Dockerfile, compose.yaml, manifests), for the tests that hold it against the code. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import type { Lock } from '../../scripts/production-packages.mjs';
import type { Manifest } from '../../scripts/sbom.mjs';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');
export const manifest = JSON.parse(textOf('package.json')) as Manifest & {
  scripts: Record<string, string>;
  allowScripts: Record<string, boolean>;
};
export const lock = JSON.parse(textOf('package-lock.json')) as Lock;

/** What every shape of a shipped file is asked for by its path; a wrong path is undefined, and the test fails. */
// biome-ignore lint/suspicious/noExplicitAny: the shapes are those of Kubernetes and of Compose.
export type Yaml = any;

/** Every document of a YAML file; throws at the first fault. */
export function yamlOf(path: string): Yaml[] {
  return parseAllDocuments(textOf(path)).map((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    return document.toJS();
  });
}

/** The files below a folder, from the root of the checkout. */
export function filesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length));
}

export interface Instruction {
  /** `FROM`, `COPY`, … */
  name: string;
  /** The rest, continuation lines joined. */
  text: string;
}

/** The instructions of a Dockerfile, stage by stage; what comes before the first FROM is stage 0. */
export function dockerStages(source = textOf('Dockerfile')): Instruction[][] {
  const joined = source.replace(/^\s*#.*\n/gm, '').replace(/\\\n\s*/g, ' ');
  const stages: Instruction[][] = [[]];
  for (const line of joined.split('\n').filter((each) => each.trim() !== '')) {
    const [, name = '', text = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    if (name === 'FROM') stages.push([]);
    stages.at(-1)!.push({ name, text: text.trim() });
  }
  return stages;
}

/** The one instruction of that name. */
export function only(stage: readonly Instruction[], name: string): string {
  const found = stage.filter((each) => each.name === name);
  if (found.length !== 1) throw new Error(`${found.length} ${name} instructions, where one is wanted`);
  return found[0]!.text;
}

/** `["a", "b"]` of an instruction in its exec form. */
export function execForm(text: string): string[] {
  return JSON.parse(text.slice(text.indexOf('['))) as string[];
}

/** `KEY=value KEY=value` of an ENV instruction. */
export function assignments(text: string): Record<string, string> {
  return Object.fromEntries(text.split(/\s+/).map((pair) => pair.split('=', 2) as [string, string]));
}
