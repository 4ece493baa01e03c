/** Holds the routing snapshot in use. It is replaced as a whole, and only by one without a fault. */
import type { Logger } from '../base/logger.js';
import type { Clock } from '../base/time.js';
import { type CatalogueCounts, countsOf } from './counts.js';
import { catalogueDigest } from './digest.js';
import { CatalogueFault, faultsOf, loadCatalogue } from './load-catalogue.js';
import type { ProviderOverrides } from './provider.js';
import { nextRetirementMs, withoutRetired } from './retirement.js';
import type { DialectList, Snapshot } from './route.js';
import { buildSnapshot } from './snapshot.js';
import type { CatalogueUpdate } from './update.js';

/** The part of the configuration that the snapshot is built from. */
export interface CatalogueSources {
  /** `builtin` or absolute paths; entries of later files win. */
  readonly files: readonly string[];
  readonly providerSettings: Readonly<Record<string, ProviderOverrides>>;
  /** Absolute paths of the files of names. */
  readonly names?: readonly string[];
  /** Whether OpenRouter's ids are known. */
  readonly openRouter?: boolean;
}

/** Names that were read and checked, and are not in use yet. */
interface NewNames {
  use(): void;
}

export interface HolderOptions extends CatalogueSources {
  /** Reads the configuration again for a reload; throws an error with a list of `faults` where it has any. */
  readonly reread?: () => CatalogueSources;
  /** The update in the place of the built-in files; null where they are in use themselves. */
  readonly update?: () => CatalogueUpdate | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The dialects that entries may name. */
  readonly dialects: DialectList;
  /** Called with each snapshot before it is used. */
  readonly onLoad?: (snapshot: Snapshot) => Promise<void>;
  /** Reads the files of names for a snapshot. Throws an error with a list of `faults` where they have any. */
  readonly readNames?: (files: readonly string[], snapshot: Snapshot, isStart: boolean) => Promise<NewNames>;
}

export type ReloadResult =
  | ({ readonly ok: true } & CatalogueCounts)
  | { readonly ok: false; readonly faults: string[] };

export class CatalogueHolder {
  private loaded: Snapshot | null = null;
  /** When the next route of the snapshot retires. */
  private retiresMs = Number.POSITIVE_INFINITY;
  private reloading: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: HolderOptions) {}

  /** Null until the first load; requests then get `service_unavailable`. A route that retires meanwhile is no part of it. */
  get current(): Snapshot | null {
    if (this.retiresMs !== Number.POSITIVE_INFINITY && this.options.clock.now() >= this.retiresMs) this.retire();
    return this.loaded;
  }

  private retire(): void {
    const before = this.loaded!;
    this.use(withoutRetired(before, this.options.clock.now()));
    const routes = [...(this.loaded!.retired?.keys() ?? [])].filter((id) => before.routes.has(id));
    this.options.logger.warn(
      { routes },
      'routes have reached the day of their retirement, and are not served any more',
    );
  }

  private use(snapshot: Snapshot): void {
    this.loaded = snapshot;
    this.retiresMs = nextRetirementMs(snapshot);
  }

  /** Loads and replaces the snapshot. Throws a CatalogueFault with every fault and then keeps the old one. */
  load(): Promise<void> {
    return this.enqueue(() => this.options);
  }

  async reload(): Promise<ReloadResult> {
    try {
      await this.enqueue(this.options.reread ?? (() => this.options));
    } catch (error) {
      const { faults } = error as Partial<CatalogueFault>;
      if (!Array.isArray(faults)) throw error;
      this.options.logger.warn({ faults }, 'the catalogue has faults, the old one stays in use');
      return { ok: false, faults: [...faults] };
    }
    return { ok: true, ...countsOf(this.current!) };
  }

  /** One load at a time, so that an older one never replaces a newer one. */
  private enqueue(sources: () => CatalogueSources): Promise<void> {
    const loading = this.reloading.then(() => this.swap(sources()));
    this.reloading = loading.catch(() => {});
    return loading;
  }

  /** What a reload with this update would use; null for the built-in files. Throws an error with a list of `faults` where it has any. */
  async preview(update: CatalogueUpdate | null): Promise<{ snapshot: Snapshot; usesBuiltin: boolean }> {
    const sources = (this.options.reread ?? (() => this.options))();
    return { snapshot: await this.build(sources, update), usesBuiltin: sources.files.includes('builtin') };
  }

  private async build(sources: CatalogueSources, update: CatalogueUpdate | null): Promise<Snapshot> {
    const { env, clock, dialects } = this.options;
    const providerSettings = new Map(Object.entries(sources.providerSettings));
    const merged = await loadCatalogue(sources.files, update);
    const now = clock.now();
    const snapshot = withoutRetired(buildSnapshot(merged, { providerSettings, env, dialects, now }), now);
    const faults = faultsOf(merged);
    if (faults.length > 0) throw new CatalogueFault(faults);
    return sources.openRouter ? { ...snapshot, openRouter: true } : snapshot;
  }

  private async swap(sources: CatalogueSources): Promise<void> {
    const { logger } = this.options;
    const snapshot = await this.build(sources, this.options.update?.() ?? null);
    const names = await this.options.readNames?.(sources.names ?? [], snapshot, this.loaded === null);
    for (const id of Object.keys(sources.providerSettings)) {
      if (!snapshot.providers.has(id))
        logger.warn({ provider: id }, 'the configuration has settings for a provider that the catalogue does not have');
    }
    const retired = [...(snapshot.retired?.values() ?? [])].filter(({ provider }) => provider.configured);
    if (retired.length > 0)
      logger.warn(
        { routes: retired.map(({ id, life }) => `${id} (${life?.retires?.date})`) },
        'routes of the catalogue are past their retirement, and are not served; remove them, or correct `retires`',
      );
    const unpriced = lostPrices(this.current, snapshot);
    if (unpriced.length > 0)
      logger.warn(
        { routes: unpriced },
        'routes that were served have no price any more, and are not served until they have one',
      );
    await this.options.onLoad?.(snapshot);
    this.use(snapshot);
    names?.use();
    logger.info(
      {
        ...{ models: snapshot.models.size, routes: snapshot.routes.size, providers: snapshot.providers.size },
        digest: catalogueDigest(snapshot),
      },
      'catalogue loaded',
    );
  }
}

/** Routes that could be served before and have lost their price, but not those that are gone. */
function lostPrices(before: Snapshot | null, after: Snapshot): string[] {
  return routesWithLostPrice(before, after).filter((id) => after.routes.get(id)!.provider.configured);
}

/** The same with routes of providers that are not configured. */
export function routesWithLostPrice(before: Snapshot | null, after: Snapshot): string[] {
  const routes = [...after.routes.values()];
  return routes.filter(({ id, price }) => price === null && before?.routes.get(id)?.price).map(({ id }) => id);
}
