/** Opens the catalogue: its files, the update in the place of the built-in ones, and the daily look for a newer one. */
import type { AuditLog } from '../accounts/audit.js';
import type { Logger } from '../base/logger.js';
import type { Clock } from '../base/time.js';
import {
  CatalogueHolder,
  type CatalogueSources,
  type HolderOptions,
  type ReloadResult,
} from '../catalogue/catalogue-holder.js';
import { CatalogueFault } from '../catalogue/load-catalogue.js';
import { NamesFault } from '../catalogue/names-file.js';
import type { Snapshot } from '../catalogue/route.js';
import type { Config } from '../config/config.js';
import { ConfigFault } from '../config/config-fault.js';
import type { AppliedUpdate } from '../http/deps.js';
import { readVerifierKey } from '../proof/note.js';
import { fileBytesMax } from '../proof/signed-catalogue.js';
import { dialects } from '../providers/dialects/registry.js';
import { download } from '../providers/transport/download.js';
import type { Store } from '../storage/store.js';
import type { AccessTokens } from './access-tokens.js';
import { DailyCatalogueLook } from './catalogue-look.js';
import { CatalogueUpdates } from './catalogue-updates.js';
import type { OpenParts } from './open-parts.js';

interface CatalogueDeps {
  config: Config;
  rereadConfig?: (() => Config) | undefined;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  logger: Logger;
  store: Store;
  audit: AuditLog;
  tokens: AccessTokens;
  /** Called with each snapshot before it is used. */
  onLoad: (snapshot: Snapshot) => Promise<void>;
  readNames: NonNullable<HolderOptions['readNames']>;
  /** Resolves when every process knows that the catalogue has changed. */
  announce: () => Promise<void>;
}

export function openCatalogue(deps: CatalogueDeps, parts: OpenParts) {
  const { config, rereadConfig, env, clock, logger, store, audit, tokens, onLoad, readNames, announce } = deps;
  const catalogue = new CatalogueHolder({
    ...sourcesOf(config),
    ...(rereadConfig && { reread: () => sourcesOf(rereadConfig()) }),
    ...{ env, clock, logger, dialects, onLoad, readNames },
    update: () => updates.inUse,
  });
  const reload = (): Promise<ReloadResult> => {
    if (rereadConfig) tokens.take(rereadConfig);
    return catalogue.reload();
  };
  const reloadAll = async (): Promise<ReloadResult> => {
    const outcome = await reload();
    if (outcome.ok) await announce();
    return outcome;
  };
  const updates = new CatalogueUpdates({
    ...{ store: store.catalogueUpdates, catalogue, reload: reloadAll, keys: keysOf(config), clock, logger },
  });

  const { url, apply } = config.catalogueUpdates;
  if (url !== null) {
    const note = ({ version, from, part }: AppliedUpdate) =>
      audit.record('system', 'catalogue.update', version, { from, part });
    const look = new DailyCatalogueLook({
      ...{ updates, store: store.catalogueUpdates, apply, note, clock, logger },
      download: (ended) => download(url, fileBytesMax, env, { ended }),
    });
    parts.add(look, (part) => part.close()).start();
  }

  return {
    catalogue,
    updates,
    /** In this process. */
    reload,
    /** In every process. */
    reloadAll,
    /** Called when another process has changed something: its update is in the store. */
    async follow(): Promise<ReloadResult> {
      await updates.read();
      return reload();
    },
    async load(): Promise<void> {
      await updates.read();
      await catalogue.load().catch((error: unknown) => {
        if (!(error instanceof CatalogueFault) || error instanceof NamesFault || updates.inUse === null) throw error;
        updates.setAside(error.faults);
        return catalogue.load();
      });
    },
  };
}

function sourcesOf({ catalogue, names, providers, compat }: Config): CatalogueSources {
  return { files: catalogue, names, providerSettings: providers, openRouter: compat.openRouter };
}

function keysOf({ catalogueUpdates: { keys } }: Config) {
  return (keys ?? []).map((text) => {
    const key = readVerifierKey(text);
    if (key) return key;
    throw new ConfigFault([`catalogue_updates.key: found "${text.slice(0, 200)}", expected a whole verifier key`]);
  });
}
