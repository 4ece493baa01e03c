import { afterEach, expect, it } from 'vitest';
import { measuredTime } from '../../../tests/support/measured-time.js';
import { ProcessMeters } from './process-meters.js';

const meters = new ProcessMeters();
afterEach(() => meters.stop());

it('tells the delay of the event loop without the time between two samples, and the time that it was at work', async () => {
  await new Promise((resolve) => setTimeout(resolve, 100));
  const before = meters.figures();
  expect(before.nodejs_eventloop_lag_max_seconds![0]!.value, measuredTime).toBeLessThan(0.15);
  for (const end = performance.now() + 300; performance.now() < end; );
  await new Promise((resolve) => setTimeout(resolve, 60));
  const after = meters.figures();
  expect(after.nodejs_eventloop_lag_max_seconds![0]!.value).toBeGreaterThan(0.2);
  const active = (figures: typeof after) => figures.nodejs_eventloop_active_seconds_total![0]!.value;
  expect(active(after) - active(before)).toBeGreaterThan(0.2);
  expect(after.lodestone_workers).toEqual([{ labels: [], value: 1 }]);
});
