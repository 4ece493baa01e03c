/** A second caller that sends a tiny request every few milliseconds while something else happens, and how long each of them took. */

import { readFileSync, writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { expect } from 'vitest';
import type { SpawnedGateway } from '../support/gateway.js';
import { measuredTime, repeatMeasured } from '../support/measured-time.js';
import { pause, type Rig, type RigOptions, scaled, spawnRig } from './fixture.js';

/** Each request takes processor time from what is measured, so there are fewer of them in `npm test`. */
const everyMs = scaled(25, 10);

/** Milliseconds, as far as the gateway's main thread ran meanwhile: a busy machine is nobody's fault. */
export interface Delays {
  count: number;
  p50: number;
  p99: number;
  max: number;
  /** The longest as it was, with the machine's share. */
  measuredMax: number;
  failures: string[];
}

interface CoTenant {
  /** The address of its own upstream, to be put into the catalogue. */
  url: string;
  start(caller: { url: string; key: string; model: string; pid: number; everyMs: number }): void;
  finish(): Promise<Delays>;
  close(): Promise<void>;
}

interface Report {
  samples: { elapsed: number; own: number }[];
  failures: string[];
}

export interface CoTenantRig extends Rig<SpawnedGateway> {
  coTenant: Pick<CoTenant, 'finish'>;
  /** Lets the co-tenant send from now on, until `coTenant.finish()`. */
  watch(): void;
}

/** A gateway in a process of its own with a co-tenant, which has sent for a moment already: what both load first is loaded. */
export async function startCoTenantRig(options: RigOptions = {}): Promise<CoTenantRig> {
  const coTenant = await startCoTenant();
  const rig = await spawnRig({ ...options, providers: { ...options.providers, co: coTenant.url } });
  const { key } = await rig.gateway.createAccount({ credit: '1000.00' });
  const { url, pid } = rig.gateway;
  const watch = () => coTenant.start({ url, key, model: 'co/meta/llama-3.3-70b/defra', pid, everyMs });
  watch();
  await pause(500);
  await coTenant.finish();
  return {
    ...rig,
    coTenant,
    watch,
    async stop() {
      await rig.stop();
      await coTenant.close();
    },
  };
}

async function startCoTenant(): Promise<CoTenant> {
  const worker = new Worker(new URL('./co-tenant-thread.mjs', import.meta.url));
  const next = <Message>() => new Promise<Message>((resolve) => worker.once('message', resolve));
  const { port } = await next<{ port: number }>();
  return {
    url: `http://127.0.0.1:${port}`,
    start: (caller) => worker.postMessage({ start: caller }),
    async finish() {
      worker.postMessage({ stop: true });
      return delaysOf(await next<Report>());
    },
    async close() {
      await worker.terminate();
    },
  };
}

function delaysOf({ samples, failures }: Report): Delays {
  const sorted = samples.map(({ own }) => own).sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  const measuredMax = Math.max(...samples.map(({ elapsed }) => elapsed));
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? 0, measuredMax, failures };
}

/** Megabytes that a process holds now, and the most that it held since `forgetPeak`. */
export function residentMb(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
  return { now: field('VmRSS'), peak: field('VmHWM') };
}

/** The system takes the present memory of a process for its peak when this is written. */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/**
 * For tests of what a co-tenant notices: a machine whose processors are taken away for a moment shows a wait that is not the gateway's, a
 * gateway that holds others up does so each time.
 */
export const measured = { retry: repeatMeasured(4), timeout: 180_000 };

/** Every request was served, and none waited longer than the bound, less the pause between two: one sent in it would have waited longer. */
export function expectUnharmed(delays: Delays, { p99 = Infinity, max }: { p99?: number; max: number }): void {
  expect(delays.failures).toEqual([]);
  expect(delays.count).toBeGreaterThan(10);
  expect(delays.max, measuredTime).toBeLessThan(max - everyMs);
  expect(delays.p99, measuredTime).toBeLessThan(p99);
}
