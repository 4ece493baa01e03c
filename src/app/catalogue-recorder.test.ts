import { describe, expect, it } from 'vitest';
import { smallSnapshot } from '../../tests/support/snapshot.js';
import { silentLogger } from '../base/logger.js';
import { catalogueDigest } from '../catalogue/digest.js';
import { StoreUnavailable } from '../storage/store.js';
import { CatalogueRecorder } from './catalogue-recorder.js';

function fixture() {
  const state = { away: false, digests: [] as string[] };
  const log = {
    record: async ({ digest }: { digest: string }) => {
      if (state.away) throw new StoreUnavailable(new Error('away'));
      state.digests.push(digest);
      return 0;
    },
  };
  return { state, recorder: new CatalogueRecorder({ log, clock: { now: () => 1 }, logger: silentLogger }) };
}

describe('the record of a load', () => {
  it('does not delay a start, is there when a reload ends, and is not lost at the end of the process', async () => {
    const { state, recorder } = fixture();
    const [first, second] = [smallSnapshot(), smallSnapshot()];
    await recorder.record(first);
    expect(state.digests).toEqual([]);
    await recorder.record(second);
    expect(state.digests).toContain(catalogueDigest(second));
    const closing = fixture();
    await closing.recorder.record(first);
    await closing.recorder.close();
    expect(closing.state.digests).toEqual([catalogueDigest(first)]);
  });

  it('waits for a store that is away, without failing the load', async () => {
    const { state, recorder } = fixture();
    state.away = true;
    await recorder.record(smallSnapshot());
    const snapshot = smallSnapshot();
    await recorder.record(snapshot);
    expect(state.digests).toEqual([]);
    state.away = false;
    await expect.poll(() => state.digests, { timeout: 20_000 }).toEqual([catalogueDigest(snapshot)]);
    await recorder.close();
  });
});
