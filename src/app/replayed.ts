/** Waits for what an earlier process has billed: until it is in the store, no balance is right. */
import type { JournalSlot } from '../journal/journal-slots.js';
import { StoreUnavailable } from '../storage/store.js';

/** How long a start and a request wait for the journal of an earlier process to reach the store. */
export const replayMs = 5_000;

/** No account is read before the records of an earlier process are in the store: its balance would be too high. */
export function replayedOnce(journal: JournalSlot): () => Promise<void> {
  let done = false;
  return async () => {
    done ||= await journal.replayed(replayMs);
    if (!done) throw new StoreUnavailable('settlements of an earlier process still wait in the journal');
  };
}
