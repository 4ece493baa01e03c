/** Reads the catalogue of a configuration without a server. */
import { resolve } from 'node:path';
import { silentLogger } from '../base/logger.js';
import { systemClock } from '../base/time.js';
import { CatalogueHolder } from '../catalogue/catalogue-holder.js';
import { checkDates, type DateNote } from '../catalogue/life-check.js';
import { faultsOf, loadCatalogue } from '../catalogue/load-catalogue.js';
import { routeOf } from '../catalogue/lookup.js';
import { parseModelId } from '../catalogue/model-id.js';
import { readNameFiles } from '../catalogue/names-file.js';
import type { Snapshot } from '../catalogue/route.js';
import { checkSources, type OldFigure } from '../catalogue/source-check.js';
import type { Config } from '../config/config.js';
import { dialects } from '../providers/dialects/registry.js';
import type { Io } from './io.js';

type CatalogueReading = { snapshot: Snapshot; faults: [] } | { snapshot: null; faults: string[] };

/** Reads `named` files after those of the configuration, as if they were at the end of its list. */
export async function readCatalogue(config: Config, io: Io, named: readonly string[] = []): Promise<CatalogueReading> {
  const holder = new CatalogueHolder({
    files: filesOf(config, io, named),
    providerSettings: config.providers,
    env: io.env,
    dialects,
    clock: systemClock,
    logger: silentLogger,
  });
  const outcome = await holder.reload();
  return outcome.ok ? { snapshot: holder.current!, faults: [] } : { snapshot: null, faults: outcome.faults };
}

/** Checks that every figure of the same files has a source and a date, and looks for dates that have come. */
export async function readSources(
  config: Config,
  io: Io,
  named: readonly string[],
  maxAgeMs: number,
): Promise<{ faults: string[]; old: OldFigure[]; notes: DateNote[] }> {
  const merged = await loadCatalogue(filesOf(config, io, named));
  const nowMs = systemClock.now();
  const old = checkSources(merged, { nowMs, maxAgeMs });
  const notes = checkDates(merged, nowMs);
  return { faults: faultsOf(merged), old, notes };
}

/** The faults of the configuration's files of names, and what the catalogue does not have of what they lead to. */
export async function readNames(
  { names: files }: Config,
  snapshot: Snapshot,
): Promise<{ faults: string[]; lost: string[] }> {
  const read = await readNameFiles(files);
  if (read.names.size > 0) {
    const { defaultFaults } = await import('../doors/name-defaults.js');
    for (const { name, faultAt } of read.names.values())
      for (const { field, reason } of defaultFaults(name.defaults ?? {})) faultAt(['defaults', field], reason);
  }
  const faults = read.faults();
  const lost = [...read.names].flatMap(([text, { name, file }]) =>
    [name.target, ...(name.fallback ?? [])]
      .filter((id) => !hasId(snapshot, id))
      .map((id) => `${file}: the name "${text}" leads to "${id}", which the catalogue does not have`),
  );
  return { faults, lost };
}

function hasId(snapshot: Snapshot, text: string): boolean {
  const id = parseModelId(text);
  if (id.kind === 'auto') return snapshot.models.has(`${id.creator}/${id.model}`);
  return id.kind === 'explicit' && routeOf(snapshot, id) !== undefined;
}

function filesOf(config: Config, io: Io, named: readonly string[]): string[] {
  const added = named.map((file) => (file === 'builtin' ? file : resolve(io.cwd, file)));
  return [...config.catalogue.filter((file) => !added.includes(file)), ...added];
}
