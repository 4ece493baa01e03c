/** Reads the catalogue of a configuration without a server. */
import { resolve } from 'node:path';
import { silentLogger } from '../base/logger.js';
import { systemClock } from '../base/time.js';
import { CatalogueHolder } from '../catalogue/catalogue-holder.js';
import type { Snapshot } from '../catalogue/route.js';
import type { Config } from '../config/config.js';
import { dialects } from '../providers/dialects/registry.js';
import type { Io } from './io.js';

export type CatalogueReading = { snapshot: Snapshot; faults: [] } | { snapshot: null; faults: string[] };

/** Reads `named` files after those of the configuration, as if they were at the end of its list. */
export async function readCatalogue(config: Config, io: Io, named: readonly string[] = []): Promise<CatalogueReading> {
  const added = named.map((file) => (file === 'builtin' ? file : resolve(io.cwd, file)));
  const files = [...config.catalogue.filter((file) => !added.includes(file)), ...added];
  const holder = new CatalogueHolder({
    files,
    providerSettings: config.providers,
    env: io.env,
    dialects,
    clock: systemClock,
    logger: silentLogger,
  });
  const outcome = await holder.reload();
  return outcome.ok ? { snapshot: holder.current!, faults: [] } : { snapshot: null, faults: outcome.faults };
}
