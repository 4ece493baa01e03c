/** Reads the files of `names:` in the configuration. Names of later files win. */
import { readFile } from 'node:fs/promises';
import { describeValue, YamlSource } from '../base/yaml-source.js';
import { CatalogueFault } from './load-catalogue.js';
import { isModelName, type ModelName, modelNameOf, nameDefinition, nameRule, namesMax } from './model-name.js';

/** Stops a start or a reload because of a file of names. */
export class NamesFault extends CatalogueFault {
  constructor(faults: readonly string[]) {
    super(faults, 'names');
  }
}

interface LocatedName {
  readonly name: ModelName;
  readonly file: string;
  /** Adds a fault to the file, at a field of the definition. */
  faultAt(path: readonly PropertyKey[], message: string): void;
}

interface NameFiles {
  readonly names: ReadonlyMap<string, LocatedName>;
  /** Those of the files so far, with what `faultAt` has added. */
  faults(): string[];
}

export async function readNameFiles(files: readonly string[]): Promise<NameFiles> {
  const names = new Map<string, LocatedName>();
  const sources: YamlSource[] = [];
  const unreadable: string[] = [];
  for (const file of files) {
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      unreadable.push(`${file}:1:1: file: cannot be read (${error.code ?? error.message})`);
    });
    if (text === undefined) continue;
    const source = new YamlSource(file, text);
    sources.push(source);
    if (source.faults.length === 0) readInto(names, source);
  }
  if (names.size > namesMax) {
    unreadable.push(`${files.at(-1)}:1:1: names: found ${names.size} names in all files, expected at most ${namesMax}`);
  }
  return { names, faults: () => [...unreadable, ...sources.flatMap(({ faults }) => faults)] };
}

function readInto(names: Map<string, LocatedName>, source: YamlSource): void {
  const { value } = source;
  const written = isMapping(value) ? (value.names ?? {}) : value;
  if (!isMapping(value) || !isMapping(written)) {
    const path = isMapping(value) ? ['names'] : [];
    source.faultAt(path, `found ${describeValue(written)}, expected a mapping of names`);
    return;
  }
  for (const key of Object.keys(value)) {
    if (key !== 'names') source.faultAt([key], 'unknown field, expected one of: names');
  }
  for (const name of Object.keys(written)) {
    const path = ['names', name];
    if (!isModelName(name)) source.faultAt(path, `found the name ${describeValue(name)}, expected ${nameRule}`);
    const definition = source.check(nameDefinition, path);
    if (definition === undefined) continue;
    names.set(name, {
      name: modelNameOf(name, definition),
      file: source.file,
      faultAt: (at, message) => source.faultAt([...path, ...at], message),
    });
  }
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
