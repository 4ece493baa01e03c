/** Adds what waits to the tree: the leaves that settlements have made, entries of the audit log, and the generations in the queue. */
import { leafHash } from '../proof/merkle.js';
import { type LogIdentity, type ReceiptSource, receiptText } from '../proof/receipt.js';
import { hashesIn, type TreeEdge } from '../proof/tiles.js';
import type { BadGeneration, SealedBatch, Sealing } from '../storage/log-types.js';

/** The most generations that are taken out of the queue at once. */
export const queueMax = 512;
/** The most batches that are taken at once. */
const batchesMax = 32;
/** The most entries of the audit log that are taken at once. */
const entriesMax = 512;

interface AddedBatches {
  readonly batches: SealedBatch['batches'];
  /** Whether others may wait. */
  readonly more: boolean;
}

/** Leaves under a name that an empty log had before are made anew, through the queue. */
export async function addBatches(sealing: Sealing, edge: TreeEdge): Promise<AddedBatches> {
  const waiting = await sealing.waitingBatches(batchesMax);
  const batches: { batch: string; firstLeaf: number }[] = [];
  for (const { batch, origin, leaves } of waiting) {
    if (origin !== sealing.state.origin) {
      await sealing.queueBatch(batch);
      continue;
    }
    batches.push({ batch, firstLeaf: edge.size });
    for (const leaf of hashesIn(leaves)) edge.add(leaf);
  }
  return { batches, more: waiting.length === batchesMax };
}

interface AddedEntries {
  readonly entries: SealedBatch['entries'];
  /** Whether others may wait. */
  readonly more: boolean;
}

export async function addAudit(sealing: Sealing, edge: TreeEdge): Promise<AddedEntries> {
  const waiting = await sealing.waitingAudit(entriesMax);
  const entries = waiting.map(({ seq, leaf }) => {
    const leafIndex = edge.size;
    edge.add(leaf);
    return { seq, leafIndex };
  });
  return { entries, more: waiting.length === entriesMax };
}

interface AddedReceipts {
  readonly receipts: SealedBatch['receipts'];
  readonly bad: readonly BadGeneration[];
  /** How many left the queue. */
  readonly count: number;
}

export async function addQueued(sealing: Sealing, edge: TreeEdge, log: LogIdentity): Promise<AddedReceipts> {
  const { count, sources, bad: unreadable } = await sealing.take(queueMax);
  const bad = [...unreadable];
  const receipts: { id: string; accountId: string; receipt: string }[] = [];
  for (const source of sources) {
    const { id, accountId } = source;
    const receipt = receiptOf(source, log);
    if (receipt instanceof Error) {
      bad.push({ id, accountId, reason: String(receipt) });
      continue;
    }
    receipts.push({ id, accountId, receipt });
    edge.add(leafHash(receipt));
  }
  return { receipts, bad, count };
}

function receiptOf(source: ReceiptSource, log: LogIdentity): string | Error {
  try {
    return receiptText(source, log);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
