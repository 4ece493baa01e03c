/** Adds what waits to the tree: the leaves that settlements have made, and the generations in the queue. */
import { setImmediate as turn } from 'node:timers/promises';
import { leafHash } from '../proof/merkle.js';
import { type LogIdentity, type ReceiptSource, receiptText } from '../proof/receipt.js';
import { hashesIn, type TreeEdge } from '../proof/tiles.js';
import type { BadGeneration, SealedBatch, Sealing } from '../storage/log-types.js';

/** The most generations that are taken out of the queue at once. */
export const queueMax = 512;
/** The most batches that are taken at once. */
const batchesMax = 32;
/** So many take about a millisecond, after which requests have the thread again. */
const receiptsTurn = 32;
const leavesTurn = 512;

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
    for (const leaf of hashesIn(leaves)) {
      edge.add(leaf);
      if (edge.size % leavesTurn === 0) await turn();
    }
  }
  return { batches, more: waiting.length === batchesMax };
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
    if (receipts.length % receiptsTurn === 0) await turn();
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
