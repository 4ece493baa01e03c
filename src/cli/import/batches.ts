/** Sends many objects: several calls at a time, and several keys in a call. */

const atOnce = 4;
const batchMax = 200;
const batchBytes = 200_000;

/** Several at a time. The first that fails ends the others before their next one. */
export async function eachAtOnce<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const next = items.values();
  let hasFailed = false;
  const worker = async () => {
    for (const item of next) {
      if (hasFailed) return;
      await work(item).catch((error) => {
        hasFailed = true;
        throw error;
      });
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: atOnce }, worker));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}

/** As many keys at once as a body may have. */
export function batchesOf<T>(keys: readonly T[]): T[][] {
  const batches: T[][] = [];
  let bytes = 0;
  for (const key of keys) {
    const size = Buffer.byteLength(JSON.stringify(key));
    const last = batches.at(-1);
    bytes += size;
    if (last && last.length < batchMax && bytes < batchBytes) last.push(key);
    else {
      batches.push([key]);
      bytes = size;
    }
  }
  return batches;
}
