/** Reads catalogue files and merges them: entries of later files win. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { builtinFiles, type CompiledCatalogue, digestOf, readCompiled } from './builtin.js';
import {
  type AddedRoute,
  type CatalogueFile,
  type Located,
  type ModelEntry,
  pricedRoute,
  readCatalogueSource,
  readEntries,
} from './catalogue-file.js';
import { type CurrencyRate, currenciesIn } from './currencies.js';
import type { ProviderEntry, RegionEntry } from './entry-schema.js';
import type { CatalogueUpdate } from './update.js';

/** Stops a start or a reload with all faults of all files. */
export class CatalogueFault extends Error {
  constructor(
    readonly faults: readonly string[],
    what: 'catalogue' | 'names' = 'catalogue',
  ) {
    const count = faults.length === 1 ? 'a fault' : `${faults.length} faults`;
    const subject = what === 'names' ? 'The files of names have' : 'The catalogue has';
    super(`${subject} ${count}:\n${faults.join('\n')}`);
    this.name = 'CatalogueFault';
  }
}

export interface MergedCatalogue {
  readonly providers: Map<string, Located<ProviderEntry>>;
  readonly regions: Map<string, Located<RegionEntry>>;
  readonly models: Map<string, Located<ModelEntry>>;
  /** By code; null = faulty. */
  readonly currencies: Map<string, CurrencyRate | null>;
  readonly faulty: Set<string>;
  readonly refused: CatalogueFile['refused'][number][];
  /** All files that were read, with their faults. */
  readonly sources: CatalogueFile['source'][];
  /** Those of the built-in catalogue, or of the update in its place. Only a newer catalogue can correct them. */
  readonly maintained: Set<CatalogueFile['source']>;
  /** Files that could not be read. */
  readonly unreadable: string[];
}

/**
 * Faults stay with their sources, because later checks across entries add to them. An update stands in the place of the built-in files.
 */
export async function loadCatalogue(
  files: readonly string[],
  update: CatalogueUpdate | null = null,
): Promise<MergedCatalogue> {
  const merged: MergedCatalogue = {
    providers: new Map(),
    regions: new Map(),
    models: new Map(),
    currencies: new Map(),
    faulty: new Set(),
    refused: [],
    sources: [],
    maintained: new Set(),
    unreadable: [],
  };
  for (const file of files) {
    if (file !== 'builtin') await readInto(merged, file);
    else if (update) addUpdate(merged, update);
    else await readBuiltin(merged);
  }
  for (const source of merged.sources) mergeFile(merged, readEntries(source, merged.currencies));
  return merged;
}

async function readBuiltin(merged: MergedCatalogue): Promise<void> {
  const compiled = await readCompiled();
  for (const { name, url } of builtinFiles) {
    const source = await readInto(merged, fileURLToPath(url), compiled[name]);
    if (source) merged.maintained.add(source);
  }
}

/** An update has values and no text, so a fault is located in the values as JSON. */
function addUpdate(merged: MergedCatalogue, { version, values }: CatalogueUpdate): void {
  for (const [name, value] of Object.entries(values)) {
    const text = JSON.stringify(value, null, 2);
    merged.maintained.add(add(merged, readCatalogueSource(`catalogue-${version}/${name}`, text, { value })));
  }
}

async function readInto(merged: MergedCatalogue, path: string, compiled?: CompiledCatalogue[string]) {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    merged.unreadable.push(`${path}:1:1: file: cannot be read (${error.code ?? error.message})`);
  });
  if (text === undefined) return undefined;
  const known = compiled && compiled.digest === digestOf(text) ? compiled : undefined;
  return add(merged, readCatalogueSource(path, text, known));
}

function add(merged: MergedCatalogue, source: CatalogueFile['source']): CatalogueFile['source'] {
  merged.sources.push(source);
  for (const [code, rate] of currenciesIn(source)) merged.currencies.set(code, rate);
  return source;
}

function mergeFile(merged: MergedCatalogue, file: CatalogueFile): void {
  for (const [id, entry] of file.providers) merged.providers.set(id, entry);
  for (const [locode, entry] of file.regions) merged.regions.set(locode, entry);
  for (const [id, entry] of file.models) merged.models.set(id, entry);
  for (const name of file.faulty) merged.faulty.add(name);
  merged.refused.push(...file.refused);
  for (const added of file.added) addRoute(merged, file.source, added);
}

/** Adds a route to a model, in place of the one that an earlier file has for the same provider and place. */
function addRoute(merged: MergedCatalogue, source: CatalogueFile['source'], { model: id, fields, path }: AddedRoute) {
  const model = merged.models.get(id);
  if (!model) {
    if (merged.faulty.has(id.toLowerCase())) return;
    const expected = 'the creator/model of an entry of this file or of an earlier one';
    source.faultAt([...path, 'model'], `found "${id}", expected ${expected}`);
    return;
  }
  const { kind, routes } = model.entry;
  const route = pricedRoute(fields, { source, path, kind, currencies: merged.currencies });
  const { provider, locode } = route.entry;
  const earlier = routes.findIndex(
    ({ entry, source: from }) => from !== source && entry.provider === provider && entry.locode === locode,
  );
  const changed = earlier === -1 ? [...routes, route] : routes.with(earlier, route);
  merged.models.set(id, { ...model, entry: { ...model.entry, routes: changed } });
}

export function faultsOf(merged: MergedCatalogue): string[] {
  return [...merged.unreadable, ...merged.sources.flatMap((source) => source.faults)];
}
