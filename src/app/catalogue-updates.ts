/**
 * Takes updates of the catalogue into use, and takes them back. The store keeps them, so that every process has the same one, also after a
 * restart. An update is checked as a whole before it is stored; until then the running catalogue stays as it is.
 */
import type { Logger } from '../base/logger.js';
import type { Clock } from '../base/time.js';
import { builtinValues, builtinVersion } from '../catalogue/builtin.js';
import { type CatalogueHolder, type ReloadResult, routesWithLostPrice } from '../catalogue/catalogue-holder.js';
import { changesBetween } from '../catalogue/changes.js';
import { catalogueDigest } from '../catalogue/digest.js';
import { needsConsent, newDestinations } from '../catalogue/effects.js';
import { factsOf } from '../catalogue/facts.js';
import { CatalogueFault } from '../catalogue/load-catalogue.js';
import type { Snapshot } from '../catalogue/route.js';
import { strictFaults } from '../catalogue/strict-check.js';
import { type CatalogueUpdate, type CatalogueValues, UpdateRefused, withAdditions } from '../catalogue/update.js';
import type { AppliedUpdate, ApplyOptions, CatalogueUpdatesPort, ListedUpdates } from '../http/deps.js';
import type { VerifierKey } from '../proof/note.js';
import { compressValues, readSignedCatalogue, readValues, type SignedCatalogue } from '../proof/signed-catalogue.js';
import { dialects } from '../providers/dialects/registry.js';
import type { CatalogueUpdateStore, StoredUpdate } from '../storage/store.js';

/** A message does not list more faults of an update. */
const faultsMax = 20;

interface CatalogueUpdatesDeps {
  store: CatalogueUpdateStore;
  catalogue: Pick<CatalogueHolder, 'current' | 'preview'>;
  /** Loads the catalogue here, and in the other processes of a fleet. */
  reload: () => Promise<ReloadResult>;
  keys: readonly VerifierKey[];
  clock: Clock;
  logger: Logger;
}

export class CatalogueUpdates implements CatalogueUpdatesPort {
  /** The one that the store says is in use. */
  private stored: CatalogueUpdate | null = null;
  /** The version that this gateway cannot use. */
  private unusable: string | null = null;
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly deps: CatalogueUpdatesDeps) {}

  /** Reads from the store which update is in use. A reload takes it then. */
  read(): Promise<void> {
    return this.inTurn(() => this.readStored());
  }

  /**
   * The update in the place of the built-in catalogue. null where that is in use: there is no update, or the built-in catalogue is not
   * older, or this gateway cannot use the update.
   */
  get inUse(): CatalogueUpdate | null {
    const { stored, unusable } = this;
    return stored && stored.version > builtinVersion && stored.version !== unusable ? stored : null;
  }

  /** A start does not fail for an update that another version of the gateway has stored: the built-in catalogue is used. */
  setAside(faults: readonly string[]): void {
    this.unusable = this.stored?.version ?? null;
    this.deps.logger.error(
      { version: this.unusable, builtin: builtinVersion, faults: shortFault(faults).faults },
      'the update of the catalogue that is stored has faults for this version of the gateway; the built-in catalogue is used',
    );
  }

  private async readStored(): Promise<void> {
    const stored = await this.deps.store.find();
    this.stored = stored && { version: stored.version, values: {} };
    if (!stored) return;
    try {
      this.stored = { version: stored.version, values: await readValues(stored.body) };
    } catch (error) {
      if (!(error instanceof UpdateRefused)) throw error;
      this.setAside([error.message]);
    }
  }

  /** One at a time, so that what was read does not replace what was applied meanwhile. */
  private inTurn<T>(act: () => Promise<T>): Promise<T> {
    const running = this.last.then(act);
    this.last = running.catch(() => {});
    return running;
  }

  async list(): Promise<ListedUpdates> {
    const [kept, lastLook] = await Promise.all([this.deps.store.kept(), this.deps.store.lastLook()]);
    return { inUse: this.inUse?.version ?? builtinVersion, builtin: builtinVersion, kept, lastLook };
  }

  /** The newest version that this deployment has ever used, also where it was rolled back. */
  async newest(): Promise<string> {
    const [newest] = await this.deps.store.kept();
    return newest && newest.version > builtinVersion ? newest.version : builtinVersion;
  }

  readFile(file: Buffer): Promise<SignedCatalogue> {
    return readSignedCatalogue(file, this.deps.keys);
  }

  async apply(file: Buffer, options: ApplyOptions): Promise<AppliedUpdate> {
    return this.applySigned(await this.readFile(file), options);
  }

  applySigned(signed: SignedCatalogue, options: ApplyOptions): Promise<AppliedUpdate> {
    return this.inTurn(() => this.checkAndUse(signed, options));
  }

  /** Takes an earlier update into use again, or the built-in catalogue. Without a version, the one before the one in use. */
  rollback(version: string | null, options: ApplyOptions): Promise<AppliedUpdate> {
    return this.inTurn(() => this.takeBack(version, options));
  }

  private async checkAndUse(signed: SignedCatalogue, options: ApplyOptions): Promise<AppliedUpdate> {
    await this.readStored();
    const { version } = signed;
    const part = options.part ?? 'all';
    await this.checkVersion(version);
    const faults = await strictFaults(signed, { dialects, nowMs: this.deps.clock.now() });
    if (faults.length > 0) throw shortFault(faults);
    const values = part === 'all' ? signed.values : await this.additionsOf(signed);
    const body = part === 'all' ? signed.body : compressValues(values);
    const stored: StoredUpdate = { version, part, note: signed.note, body, appliedMs: this.deps.clock.now() };
    return this.use({ version, values }, stored, { ...options, keepsPrices: true });
  }

  /** Without routes that would be called at once at a new address: to add them needs the operator. */
  private async additionsOf({ version, values }: CatalogueUpdate): Promise<CatalogueValues> {
    const base = this.inUse?.values ?? (await builtinValues());
    const added = withAdditions(base, values);
    const { current, snapshot } = await this.preview({ version, values: added });
    const { routes } = newDestinations(current, snapshot);
    return routes.size === 0 ? added : withAdditions(base, values, routes);
  }

  private async takeBack(version: string | null, options: ApplyOptions): Promise<AppliedUpdate> {
    await this.readStored();
    // Also one that this gateway cannot use, so that an operator gets rid of it.
    const used = this.stored?.version;
    if (used === undefined)
      throw new UpdateRefused(`The built-in catalogue (${builtinVersion}) is in use: there is nothing to take back.`);
    const kept = (await this.deps.store.kept()).map((one) => one.version).filter((one) => one > builtinVersion);
    const target = version ?? kept.find((one) => one < used) ?? builtinVersion;
    if (target === builtinVersion) return this.use(null, null, options);
    const stored = kept.includes(target) && target !== used ? await this.deps.store.find(target) : null;
    if (!stored) {
      const others = [...kept.filter((one) => one !== used), `${builtinVersion} (built in)`].join(', ');
      throw new UpdateRefused(
        `The catalogue ${target.slice(0, 200)} is not kept, or is in use. Choose one of: ${others}.`,
      );
    }
    return this.use({ version: target, values: await readValues(stored.body) }, stored, options);
  }

  private async checkVersion(version: string): Promise<void> {
    if (version <= builtinVersion)
      throw new UpdateRefused(
        `The catalogue ${version} is not newer than the built-in one of this gateway (${builtinVersion}).`,
      );
    if (this.stored === null || version > this.stored.version) return;
    const kept = await this.deps.store.kept();
    const used = kept.find(({ inUse }) => inUse);
    // Of an update of which only the additions are in use, the rest may follow.
    if (version === used?.version && used.part === 'additions') return;
    throw new UpdateRefused(
      version === this.stored.version
        ? `The catalogue ${version} is in use already.`
        : `The catalogue ${version} is older than the one in use (${this.stored.version}). \`lodestone catalogue rollback\` takes an update back.`,
    );
  }

  private async use(
    update: CatalogueUpdate | null,
    stored: StoredUpdate | null,
    { confirm = false, dryRun = false, keepsPrices = false }: ApplyOptions & { keepsPrices?: boolean },
  ): Promise<AppliedUpdate> {
    const { store, logger } = this.deps;
    const { current, snapshot } = await this.preview(update);
    const unpriced = keepsPrices ? routesWithLostPrice(current, snapshot) : [];
    if (unpriced.length > 0)
      throw shortFault(unpriced.map((id) => `${id}: found no price, expected one, because it has one now`));
    const facts = changesBetween(factsOf(current), factsOf(snapshot), snapshot);
    const changes = [...newDestinations(current, snapshot).changes, ...facts];
    const needsConfirmation = changes.some(needsConsent);
    const from = this.inUse?.version ?? builtinVersion;
    const version = update?.version ?? builtinVersion;
    const result = { version, from, part: stored?.part ?? null, digest: catalogueDigest(snapshot), changes };
    const addsNothing = stored?.part === 'additions' && changes.length === 0;
    if (dryRun || addsNothing || (needsConfirmation && !confirm))
      return { ...result, applied: false, needsConfirmation };
    if (!(await store.use(stored, this.stored?.version ?? null)))
      throw new UpdateRefused('Another update was taken into use at the same time. Look at it, and try again.');
    this.stored = update;
    const outcome = await this.deps.reload();
    if (!outcome.ok) throw shortFault(outcome.faults);
    logger.info({ version, from, part: result.part, changes: changes.length }, 'another catalogue is in use');
    return { ...result, applied: true, needsConfirmation };
  }

  private async preview(update: CatalogueUpdate | null): Promise<{ current: Snapshot; snapshot: Snapshot }> {
    const { catalogue } = this.deps;
    const { current } = catalogue;
    if (!current) throw new UpdateRefused('The gateway has no catalogue yet. Try again when it is ready.');
    const { snapshot, usesBuiltin } = await catalogue.preview(update).catch((error: Error) => {
      throw Array.isArray((error as CatalogueFault).faults) ? shortFault((error as CatalogueFault).faults) : error;
    });
    if (!usesBuiltin)
      throw new UpdateRefused(
        'The list `catalogue` of the configuration has no `builtin`, which an update stands in the place of. Add it first.',
      );
    return { current, snapshot };
  }
}

function shortFault(faults: readonly string[]): CatalogueFault {
  const more = faults.length - faultsMax;
  const shown = faults.slice(0, faultsMax).map((fault) => fault.slice(0, 400));
  return new CatalogueFault(more > 0 ? [...shown, `and ${more} more`] : shown);
}
