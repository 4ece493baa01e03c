/** What the store knows of the log of receipts. */
import type { ReceiptSource } from '../proof/receipt.js';
import type { ChangedTile, ReadTile, TilePlace } from '../proof/tiles.js';

export interface LogKey {
  /** In the form of C2SP. */
  readonly verifierKey: string;
  readonly fromMs: number;
  /** null for the key in use. */
  readonly toMs: number | null;
}

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
  /** When the generation that waits longest was settled; null where none waits. */
  readonly oldestUnsealedMs: number | null;
}

/** One sealing, inside its transaction. */
export interface Sealing {
  readonly state: LogState;
  /** Takes generations out of the queue, oldest first. Those that are gone, or sealed already, are left out. */
  take(limit: number): Promise<ReceiptSource[]>;
  readonly readTile: ReadTile;
  write(sealed: SealedBatch): Promise<void>;
  /** Signs the log as it is, at first and after a change of key. */
  begin(log: { origin: string; salt: Buffer; checkpoint: string }): Promise<void>;
  /** Ends the key in use and adds another. */
  addKey(verifierKey: string, nowMs: number): Promise<void>;
}

interface SealedReceipt {
  readonly id: string;
  readonly accountId: string;
  readonly receipt: string;
}

export interface SealedBatch {
  /** The first is the leaf after the state's last one. */
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

export interface LogStore {
  status(): Promise<LogStatus>;
  /** Runs `work` in one transaction under the sealer's lock; null where another process has it. */
  seal<T>(work: (sealing: Sealing) => Promise<T>): Promise<T | null>;
  /** Whether settled generations are queued for the log. Those of a time without are found again afterwards. */
  setActive(active: boolean): Promise<void>;
  /** Queues generations of before, a few hours of them. False where nothing is left to look at. */
  queueOld(nowMs: number): Promise<boolean>;
  /** The hashes of a tile; null where the log has none of it. */
  tile(place: TilePlace): Promise<Buffer | null>;
  /** `unsealed` where it waits for the sealer. Without an account: of any. */
  leaf(id: string, accountId: string | null): Promise<SealedLeaf | 'unsealed' | null>;
  /** Reads the tree in one snapshot. */
  read<T>(work: (state: LogState, readTile: ReadTile) => Promise<T>): Promise<T>;
}
