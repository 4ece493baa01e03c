/**
 * Measures the process itself. Node samples the delay of the event loop outside of JavaScript, reported since the last
 * scrape. Everything else is read at the scrape or adds up from the start.
 */
import {
  constants,
  monitorEventLoopDelay,
  type PerformanceEntry,
  PerformanceObserver,
  performance,
} from 'node:perf_hooks';
import { version } from '../../base/version.js';
import { type Figures, Histogram, type Sample } from './figures.js';
import { gcBounds } from './metric-table.js';

const resolutionMs = 20;
/** A second scraper, or a person with curl, does not take the figures away from the first. */
const lagWindowMs = 10_000;

const gcKinds = new Map<number, string>([
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
]);

/** An entry of a garbage collection; Node's types declare `detail` only on others. */
type Collection = PerformanceEntry & { detail?: { kind?: number } };
type Lag = Record<'mean' | 'p50' | 'p99' | 'max', number>;

export class ProcessMeters {
  private readonly delay = monitorEventLoopDelay({ resolution: resolutionMs });
  private readonly collections = new Map<string, Histogram>();
  private readonly observer: PerformanceObserver;
  private windowFromMs = performance.now();

  constructor() {
    this.delay.enable();
    this.observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as Collection[]) this.collected(entry);
    });
    this.observer.observe({ entryTypes: ['gc'] });
  }

  stop(): void {
    this.delay.disable();
    this.observer.disconnect();
  }

  figures(): Figures {
    const cpu = process.cpuUsage();
    const memory = process.memoryUsage();
    const loop = performance.eventLoopUtilization();
    const lag = this.lag();
    return {
      process_cpu_user_seconds_total: one(cpu.user / 1e6),
      process_cpu_system_seconds_total: one(cpu.system / 1e6),
      process_cpu_seconds_total: one((cpu.user + cpu.system) / 1e6),
      process_start_time_seconds: one(performance.timeOrigin / 1000),
      process_resident_memory_bytes: one(memory.rss),
      nodejs_heap_size_total_bytes: one(memory.heapTotal),
      nodejs_heap_size_used_bytes: one(memory.heapUsed),
      nodejs_external_memory_bytes: one(memory.external),
      nodejs_eventloop_lag_mean_seconds: one(lag.mean),
      nodejs_eventloop_lag_p50_seconds: one(lag.p50),
      nodejs_eventloop_lag_p99_seconds: one(lag.p99),
      nodejs_eventloop_lag_max_seconds: one(lag.max),
      nodejs_eventloop_active_seconds_total: one(loop.active / 1000),
      nodejs_eventloop_idle_seconds_total: one(loop.idle / 1000),
      nodejs_gc_duration_seconds: [...this.collections].map(([kind, durations]) => durations.sample([kind])),
      nodejs_version_info: [{ labels: [process.version], value: 1 }],
      lodestone_build_info: [{ labels: [version], value: 1 }],
      lodestone_workers: one(1),
    };
  }

  private lag(): Lag {
    const { delay } = this;
    const lag = {
      mean: seconds(delay.mean),
      p50: seconds(delay.percentile(50)),
      p99: seconds(delay.percentile(99)),
      max: seconds(delay.max),
    };
    const nowMs = performance.now();
    if (nowMs - this.windowFromMs >= lagWindowMs) {
      this.windowFromMs = nowMs;
      delay.reset();
    }
    return lag;
  }

  private collected({ detail, duration }: Collection): void {
    const kind = gcKinds.get(detail?.kind ?? 0) ?? 'other';
    let durations = this.collections.get(kind);
    if (!durations) {
      durations = new Histogram(gcBounds);
      this.collections.set(kind, durations);
    }
    durations.observe(duration / 1000);
  }
}

/** Node measures the time between two samples, so an idle loop shows the resolution, which is no delay. */
function seconds(nanoseconds: number): number {
  return Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / 1e9 - resolutionMs / 1000) : 0;
}

function one(value: number): Sample[] {
  return [{ labels: [], value }];
}
