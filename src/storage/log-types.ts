/** What the store knows of the log of receipts. */
import type { LogIdentity, ReceiptSource } from '../proof/receipt.js';
import type { ChangedTile, ReadTile, TilePlace } from '../proof/tiles.js';

interface LogKey {
  /** In the form of C2SP. */
  readonly verifierKey: string;
  readonly fromMs: number;
  /** null for the key in use. */
  readonly toMs: number | null;
}

/**
 * What the settlements of this process add leaves with; its answer is null while the log is not known. null where the process keeps no log.
 */
export type LogMembership = (() => LogIdentity | null) | null;

export interface LogState {
  /** Of the first checkpoint; null before it. */
  readonly origin: string | null;
  readonly salt: Buffer | null;
  readonly size: number;
  readonly root: Buffer;
  /** The latest signed checkpoint. */
  readonly checkpoint: string | null;
  readonly keys: readonly LogKey[];
}

export interface LogStatus extends LogState {
  /** Since when the generation or the entry of the audit log waits that waits longest; null where none does. */
  readonly oldestUnsealedMs: number | null;
  /** Whether settled generations are queued. */
  readonly active: boolean;
  /** Whether earlier generations may be neither in the queue nor in the log. */
  readonly oldLeft: boolean;
  /** Whether a generation was set aside, because no receipt could be made of it. */
  readonly setAside: boolean;
}

/** One sealing, inside its transaction. */
export interface Sealing {
  readonly state: LogState;
  /** The batches of leaves that wait, the oldest first. */
  waitingBatches(limit: number): Promise<LeafBatch[]>;
  /** The entries of the audit log that wait, by number. */
  waitingAudit(limit: number): Promise<AuditLeaf[]>;
  /** Puts the generations of a batch into the queue instead. */
  queueBatch(batch: string): Promise<void>;
  /** Takes generations out of the queue, the newest. Those that are gone, or sealed already, are left out. */
  take(limit: number): Promise<Taken>;
  /** Puts generations back into the queue, where they wait for another process or version to try again. */
  setAside(bad: readonly BadGeneration[]): Promise<void>;
  readonly readTile: ReadTile;
  /** Reads several at once, in their order. */
  readTiles(places: readonly TilePlace[]): Promise<Buffer[]>;
  write(sealed: SealedBatch): Promise<void>;
  /** Signs the log as it is, at first and after a change of key. */
  begin(log: { origin: string; salt: Buffer; checkpoint: string }): Promise<void>;
  /** Ends the key in use and adds another. Dates never go back. */
  addKey(verifierKey: string, nowMs: number): Promise<void>;
  /** Forgets a key that has another name from now on. */
  removeKey(verifierKey: string): Promise<void>;
}

export interface BadGeneration {
  readonly id: string;
  readonly accountId: string;
  readonly reason: string;
}

export interface Taken {
  /** How many left the queue. */
  readonly count: number;
  readonly sources: readonly ReceiptSource[];
  /** Those whose row cannot be read. */
  readonly bad: readonly BadGeneration[];
}

/** The leaves of one settlement. */
export interface LeafBatch {
  readonly batch: string;
  readonly origin: string;
  readonly leaves: Buffer;
}

/** An entry of the audit log that becomes a leaf. */
export interface AuditLeaf {
  readonly seq: number;
  readonly leaf: Buffer;
}

interface SealedReceipt {
  readonly id: string;
  readonly accountId: string;
  readonly receipt: string;
}

export interface SealedBatch {
  /** Their leaves follow on the state's last one, in this order. */
  readonly batches: readonly { readonly batch: string; readonly firstLeaf: number }[];
  /** Entries of the audit log, whose leaves come after. */
  readonly entries: readonly { readonly seq: number; readonly leafIndex: number }[];
  /** Those out of the queue, whose leaves come last. */
  readonly receipts: readonly SealedReceipt[];
  readonly tiles: readonly ChangedTile[];
  readonly size: number;
  readonly root: Buffer;
  readonly checkpoint: string;
}

export interface SealedLeaf {
  readonly receipt: string;
  readonly leafIndex: number;
  readonly state: LogState;
  readonly inclusionPath: readonly Buffer[];
}

/** `unsealed` where it waits for the sealer, `altered` where the stored generation is not the one that was sealed. */
export type LeafAnswer = SealedLeaf | 'unsealed' | 'altered' | null;

export interface LogStore {
  status(): Promise<LogStatus>;
  /** Runs `work` in one transaction under the sealer's lock; null where another process has it. */
  seal<T>(work: (sealing: Sealing) => Promise<T>): Promise<T | null>;
  /** Makes the settlements of this process members of the log. */
  join(membership: NonNullable<LogMembership>): void;
  /** Whether settled generations are queued for the log. Those of a time without are found again afterwards. */
  setActive(active: boolean): Promise<void>;
  /** Queues earlier generations, a few thousand of them. */
  queueOld(nowMs: number): Promise<void>;
  /** Lets what was set aside be tried again. */
  retrySetAside(): Promise<void>;
  /** The state alone, without what waits. */
  state(): Promise<LogState>;
  /** The hashes of a tile; null where the log has none of it. */
  tile(place: TilePlace): Promise<Buffer | null>;
  /** Without an account: of any, as far as its receipt is stored. */
  leaf(id: string, accountId: string | null): Promise<LeafAnswer>;
  /** Reads the tree in one snapshot. */
  read<T>(work: (state: LogState, readTile: ReadTile) => Promise<T>): Promise<T>;
}
