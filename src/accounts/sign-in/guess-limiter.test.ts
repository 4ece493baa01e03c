import { expect, it } from 'vitest';
import { ManualClock } from '../../../tests/support/manual-clock.js';
import { MemoryBuckets } from '../../cluster/memory.js';
import { GuessLimiter } from './guess-limiter.js';

it('refuses the attempt for which a bucket has nothing left, with whole seconds to wait', async () => {
  const clock = new ManualClock();
  const limiter = new GuessLimiter(new MemoryBuckets(clock));
  const bucket = { name: 'one', capacity: 1, refillMs: 10_000 };
  await limiter.take([bucket]);
  clock.advance(3_400);
  const refused = limiter.take([bucket]);
  await expect(refused).rejects.toMatchObject({ condition: 'too_many_attempts', extras: { retryAfterSeconds: 7 } });
  await limiter.giveBack([bucket]);
  await expect(limiter.take([bucket])).resolves.toBeUndefined();
});
