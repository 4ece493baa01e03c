/**
 * Loaded into the gateway by `--import`: measures from inside how long its event loop stood still. SIGUSR2 writes the longest pause
 * since the last signal to the file that BENCH_LOOP_FILE names, and starts anew.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const resolutionMs = 1;
const file = process.env.BENCH_LOOP_FILE;

if (file && isMainThread) {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs });
  histogram.enable();
  process.on('SIGUSR2', () => {
    // A delay is the time between two looks, of which the first millisecond is no pause.
    const pauseMs = (ns) => Math.max(0, ns / 1e6 - resolutionMs);
    const report = {
      longestMs: pauseMs(histogram.max),
      p99Ms: pauseMs(histogram.percentile(99)),
      looks: histogram.count,
    };
    histogram.reset();
    // The reader must not find half a file.
    writeFileSync(`${file}.new`, JSON.stringify(report));
    renameSync(`${file}.new`, file);
  });
}
