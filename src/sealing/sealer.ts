/**
 * Takes settled generations and entries of the audit log into the log of receipts, a few times a second, and signs a checkpoint over them.
 * Each process of a fleet tries; a lock of the database lets one work at a time. Everything that a sealing depends on is read inside its
 * transaction, so a process that stood still, or lost its connection, can neither fork the log nor take a generation twice.
 */
import { randomBytes } from 'node:crypto';
import type { Logger } from '../base/logger.js';
import { Pause } from '../base/pause.js';
import type { Clock } from '../base/time.js';
import { checkpointText } from '../proof/checkpoint.js';
import { type SignerKey, signNote } from '../proof/note.js';
import type { LogIdentity } from '../proof/receipt.js';
import { edgeTiles, TreeEdge } from '../proof/tiles.js';
import type { BadGeneration, LogState, LogStatus, LogStore, Sealing } from '../storage/log-types.js';
import { addAudit, addBatches, addQueued, queueMax } from './add-leaves.js';
import type { LogKeyFile } from './log-key.js';
import type { PublishedCheckpoint } from './published-checkpoint.js';
import { faultText, type SealerFault, SealingStopped, type StoppingFault } from './sealer-fault.js';

const roundMs = 400;
/** After an error of the store, which is most often over at once. */
const retryMs = 300;
/** After a fault that an operator has to see to. */
const stoppedMs = 2_000;
const compareEveryMs = 2_000;

interface SealerOptions {
  readonly store: LogStore;
  readonly origin: string;
  readonly keyFile: LogKeyFile;
  readonly published: PublishedCheckpoint;
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  readonly logger: Logger;
}

export interface SealerFigures {
  readonly size: number;
  readonly oldestUnsealedMs: number | null;
  readonly fault: SealerFault | null;
}

export class Sealer {
  private fault: StoppingFault | null = null;
  private status: LogStatus | null = null;
  private signer: SignerKey | null = null;
  private comparedAtMs = Number.NEGATIVE_INFINITY;
  /** What this process has sealed last. */
  private written: { size: number; root: Buffer } | null = null;
  private hasBeenActive = false;
  private closing = false;
  private readonly pause = new Pause();
  private readonly wait = new Pause();
  private hasBegun = false;
  private markBegun = (): void => {};
  private readonly firstLook = new Promise<void>((resolve) => {
    this.markBegun = () => {
      this.hasBegun = true;
      resolve();
    };
  });
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly options: SealerOptions) {}

  start(): void {
    this.running = this.run();
  }

  async close(): Promise<void> {
    this.closing = true;
    this.pause.end();
    await this.running;
  }

  /** Waits until the log is known to be the one that was published, or cannot be read. What waits to be sealed is not waited for. */
  async begun(msMax: number): Promise<void> {
    await Promise.race([this.firstLook, this.wait.wait(msMax)]);
    this.wait.end();
  }

  figures(): SealerFigures {
    const { size = 0, oldestUnsealedMs = null } = this.status ?? {};
    return { size, oldestUnsealedMs, fault: this.fault ?? (this.status?.setAside ? 'row_bad' : null) };
  }

  /**
   * What receipts of this log have in common, also where another process seals them; null before its first checkpoint, and where the log
   * is not the one that was published.
   */
  identity(): LogIdentity | null {
    const { origin = null, salt = null } = this.status ?? {};
    if (origin === null || salt === null || this.fault === 'store_behind' || this.fault === 'forked') return null;
    return { origin, salt };
  }

  private async run(): Promise<void> {
    while (!this.closing) {
      const done = await this.round();
      this.markBegun();
      if (!this.closing) await this.pause.wait(done ? roundMs : this.fault === null ? retryMs : stoppedMs);
    }
  }

  /** Seals what there is. False where it has to be tried again later. */
  async round(): Promise<boolean> {
    const { store, logger } = this.options;
    try {
      await this.sealAll();
      if (this.fault !== null) logger.info({ origin: this.options.origin }, 'the log of receipts is sealed again');
      this.fault = null;
      return true;
    } catch (error) {
      if (this.closing) return true;
      if (!(error instanceof SealingStopped)) {
        logger.warn({ error: String(error) }, 'receipts could not be sealed; trying again');
        return false;
      }
      if (this.fault !== error.reason)
        logger.error({ reason: error.reason }, faultText(error.reason, { ...this.options, status: this.status }));
      this.fault = error.reason;
      this.status = await store.status().catch(() => this.status);
      return false;
    }
  }

  private async sealAll(): Promise<void> {
    const { store, clock, published } = this.options;
    if (!this.hasBeenActive) await store.retrySetAside();
    await published.refresh();
    this.status = await store.status();
    if (!this.status.active) await this.activate();
    this.hasBeenActive = true;
    const signer = this.signerFor(this.status);
    if (needsBeginning(this.status, signer)) {
      // Another process holds the lock.
      if ((await store.seal((sealing) => this.begin(sealing, signer))) === null) return;
      this.status = await store.status();
    }
    if (!this.hasBegun) {
      // A start waits for this, and must not take longer where many generations wait.
      await this.compareSometimes();
      this.markBegun();
    }
    if (this.status.oldestUnsealedMs === null) {
      await this.compareSometimes();
      if (this.status.oldLeft) await store.queueOld(clock.now());
      return;
    }
    for (let more = true; more && !this.closing; ) {
      const sealed = await store.seal((sealing) => this.sealBatch(sealing, signer));
      // Another process holds the lock.
      if (sealed === null) return this.compareSometimes();
      await published.remember(sealed.checkpoint);
      if (sealed.written) this.written = sealed.written;
      more = sealed.more;
    }
    if (this.status.oldLeft) await store.queueOld(clock.now());
    this.status = await store.status();
  }

  /** A process that has no log switches the queue off for all when it starts. */
  private async activate(): Promise<void> {
    const { store, logger } = this.options;
    if (this.hasBeenActive) logger.warn({}, 'another process has proof.enabled: false; the log goes on here');
    await store.setActive(true);
    this.status = await store.status();
  }

  /** Processes that do not seal compare too, so that any of them notices a database that was put back. */
  private async compareSometimes(): Promise<void> {
    const { store, clock, published } = this.options;
    const size = this.status?.size ?? 0;
    if (size === published.size && clock.monotonicMs() - this.comparedAtMs < compareEveryMs) return;
    this.comparedAtMs = clock.monotonicMs();
    await published.refresh();
    const checkpoint = await store.read(async (state, readTile) => {
      const rewritten = await published.compare(state, readTile);
      if (rewritten) throw new SealingStopped(rewritten);
      return state.checkpoint;
    });
    if (checkpoint !== null) await published.remember(checkpoint);
  }

  /** The key in use. Throws where it is not that of the log. */
  private signerFor(state: LogState): SignerKey {
    const { origin, keyFile } = this.options;
    if (state.size > 0 && state.origin !== origin) throw new SealingStopped('origin_other');
    const current = state.keys.at(-1)?.verifierKey ?? null;
    if (this.signer && this.signer.verifier.text === current) return this.signer;
    this.signer = null;
    let key = keyFile.read();
    if (key === 'missing' && keyFile.mayCreate && current === null) key = keyFile.create(origin);
    if (typeof key !== 'string' && key.verifier.name !== origin && state.size === 0 && keyFile.mayCreate)
      key = keyFile.rename(key, origin);
    if (current !== null && (typeof key === 'string' || key.verifier.text !== current)) {
      const next = keyFile.readNext();
      if (typeof next !== 'string' && next.verifier.text === current) {
        keyFile.useNext();
        key = next;
      }
    }
    if (typeof key === 'string') throw new SealingStopped(key === 'missing' ? 'key_missing' : 'key_invalid');
    if (key.verifier.name !== origin) throw new SealingStopped('origin_other');
    if (state.size > 0 && key.verifier.text !== current) throw new SealingStopped('key_other');
    this.signer = key;
    return key;
  }

  private async begin(sealing: Sealing, signer: SignerKey): Promise<void> {
    const { state } = sealing;
    if (!needsBeginning(state, signer)) return;
    const { origin, clock } = this.options;
    const current = state.keys.at(-1)?.verifierKey;
    // Two processes with different keys would take an empty log from one another for ever.
    if (current !== undefined && publicPart(current) !== publicPart(signer.verifier.text))
      throw new SealingStopped('key_other');
    await this.refuseRewritten(sealing);
    if (current !== signer.verifier.text) {
      // The same key under another name. What was signed under the first one has no leaf in it.
      if (current !== undefined) await sealing.removeKey(current);
      await sealing.addKey(signer.verifier.text, clock.now());
    }
    const checkpoint = signNote(checkpointText({ origin, size: 0, root: state.root }), [signer]);
    await sealing.begin({ origin, salt: state.salt ?? randomBytes(32), checkpoint });
  }

  private async sealBatch(sealing: Sealing, signer: SignerKey): Promise<SealedRound> {
    const { state } = sealing;
    const { origin, salt, keys } = state;
    if (origin !== this.options.origin || salt === null) throw new SealingStopped('origin_other');
    // Changed since the round began: the next one reads the key again.
    if (keys.at(-1)?.verifierKey !== signer.verifier.text) return nothingSealed(state, false);
    await this.refuseRewritten(sealing);
    const edge = new TreeEdge(state.size, await sealing.readTiles(edgeTiles(state.size)));
    const isOwn = this.written?.size === state.size && this.written.root.equals(state.root);
    if (!isOwn && !edge.root().equals(state.root)) throw new SealingStopped('forked');
    const { batches, more } = await addBatches(sealing, edge);
    const audit = await addAudit(sealing, edge);
    const { receipts, bad, count } = await addQueued(sealing, edge, { origin, salt });
    if (bad.length > 0) await this.setAside(sealing, bad);
    const isMore = more || audit.more || count === queueMax;
    // A settlement whose generations all have no receipt is a batch without leaves. It is sealed too, so that it no longer waits.
    if (edge.size === state.size && batches.length === 0) return nothingSealed(state, isMore);
    const root = edge.root();
    const checkpoint = signNote(checkpointText({ origin, size: edge.size, root }), [signer]);
    const { entries } = audit;
    await sealing.write({ batches, entries, receipts, tiles: edge.changed(), size: edge.size, root, checkpoint });
    return { more: isMore, checkpoint, written: { size: edge.size, root } };
  }

  /** One generation that cannot be made into a receipt does not hold up the others. */
  private async setAside(sealing: Sealing, bad: readonly BadGeneration[]): Promise<void> {
    const [{ id, reason }] = bad as [BadGeneration];
    this.options.logger.error({ id, reason, count: bad.length }, 'generations have no receipt; they were set aside');
    await sealing.setAside(bad);
  }

  private async refuseRewritten({ state, readTile }: Sealing): Promise<void> {
    const rewritten = await this.options.published.compare(state, readTile);
    if (rewritten) throw new SealingStopped(rewritten);
  }
}

interface SealedRound {
  /** Whether something may still wait. */
  readonly more: boolean;
  readonly checkpoint: string;
  /** null where nothing was added. */
  readonly written: { readonly size: number; readonly root: Buffer } | null;
}

function nothingSealed({ checkpoint }: LogState, more: boolean): SealedRound {
  return { more, checkpoint: checkpoint ?? '', written: null };
}

function needsBeginning({ size, origin, checkpoint, keys }: LogState, { verifier }: SignerKey): boolean {
  return size === 0 && (checkpoint === null || origin !== verifier.name || keys.at(-1)?.verifierKey !== verifier.text);
}

/** The key itself, without its name: 33 bytes as base64. */
const publicPart = (verifierKey: string): string => verifierKey.slice(-44);
