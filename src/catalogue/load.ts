/** Catalogue files, read and merged: later files win, entry by entry (contract 2). */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { ProviderEntry, RegionEntry } from './entry-schema.js';
import { type CatalogueFile, type Located, type ModelEntry, readCatalogueFile } from './file.js';

/** What stops a start or a reload: every fault of every file at once. */
export class CatalogueFault extends Error {
  constructor(readonly faults: readonly string[]) {
    super(`The catalogue has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${faults.join('\n')}`);
    this.name = 'CatalogueFault';
  }
}

/** The built-in catalogue, in the order of reading. This file is two levels below the project, compiled or not. */
const builtinDirectory = new URL('../../catalogue/', import.meta.url);
const builtinFiles = ['regions.yaml', 'sandbox.yaml'];

export interface MergedCatalogue {
  readonly providers: Map<string, Located<ProviderEntry>>;
  readonly regions: Map<string, Located<RegionEntry>>;
  readonly models: Map<string, Located<ModelEntry>>;
  readonly faulty: Set<string>;
  /** Every file that was read, each with its own faults. */
  readonly sources: CatalogueFile['source'][];
  /** Files that could not be read. */
  readonly unreadable: string[];
}

/** Reads and merges; the faults stay with their sources, because the checks across entries add to them. */
export async function loadCatalogue(files: readonly string[]): Promise<MergedCatalogue> {
  const merged: MergedCatalogue = {
    providers: new Map(),
    regions: new Map(),
    models: new Map(),
    faulty: new Set(),
    sources: [],
    unreadable: [],
  };
  const paths = files.flatMap((file) =>
    file === 'builtin' ? builtinFiles.map((name) => fileURLToPath(new URL(name, builtinDirectory))) : [file],
  );
  for (const path of paths) {
    const content = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      merged.unreadable.push(`${path}:1:1: file: cannot be read (${error.code ?? error.message})`);
    });
    if (content !== undefined) mergeFile(merged, readCatalogueFile(path, content));
  }
  return merged;
}

function mergeFile(merged: MergedCatalogue, file: CatalogueFile): void {
  merged.sources.push(file.source);
  for (const [id, entry] of file.providers) merged.providers.set(id, entry);
  for (const [locode, entry] of file.regions) merged.regions.set(locode, entry);
  for (const [id, entry] of file.models) merged.models.set(id, entry);
  for (const name of file.faulty) merged.faulty.add(name);
}

export function faultsOf(merged: MergedCatalogue): string[] {
  return [...merged.unreadable, ...merged.sources.flatMap((source) => source.faults)];
}
