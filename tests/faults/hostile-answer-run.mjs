/**
 * What one hostile answer does to a gateway: how long another account waits, and by how much the memory of the process grows and stays
 * grown. The provider, its client and the other account have threads of their own.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

/** Milliseconds and megabytes of 2^20 bytes. */
const delayMsMax = 250;
const growthMbMax = 150;
const calmMsMax = 5_000;

export async function startHostileThreads() {
  const provider = new Worker(new URL('./hostile-provider.mjs', import.meta.url));
  const coTenant = new Worker(new URL('./co-tenant-thread.mjs', import.meta.url));
  const [{ port }, { port: coTenantPort }] = await Promise.all([next(provider), next(coTenant)]);
  return {
    ...{ provider, coTenant },
    url: `http://127.0.0.1:${port}`,
    coTenantUrl: `http://127.0.0.1:${coTenantPort}`,
    stop: () => Promise.all([provider.terminate(), coTenant.terminate()]),
  };
}

const next = (worker) => new Promise((resolve) => worker.once('message', resolve));

/** `gateway` has `url` and `pid`; `keys` are those of the hostile account and of the other one. */
export class HostileRun {
  constructor(threads, gateway, keys) {
    this.threads = threads;
    this.gateway = gateway;
    this.keys = keys;
    this.calmMb = 0;
  }

  /** Lets the other account send for a moment, so that what a request loads first is loaded. */
  async warmUp() {
    this.watch();
    await pause(1_000);
    await this.unwatch();
    this.calmMb = memoryOf(this.gateway.pid).now;
  }

  /** `{ reply, bytes, delayMs, measuredMs, growthMb, leftMb, calmMs, failures }` */
  async measure(hostile, bytes) {
    const { provider } = this.threads;
    const { pid, url } = this.gateway;
    provider.postMessage({ make: { hostile, bytes } });
    const made = await next(provider);
    resetPeak(pid);
    const before = memoryOf(pid).now;
    this.watch();
    await pause(50);
    provider.postMessage({ post: { hostile, url, key: this.keys.hostile } });
    const [reply] = await next(provider);
    const endedAt = performance.now();
    await pause(100);
    const { samples, failures } = await this.unwatch();
    const { peak } = memoryOf(pid);
    // What the gateway keeps, at the latest five seconds after the end.
    let left = memoryOf(pid).now - this.calmMb;
    while (left > growthMbMax / 2 && performance.now() - endedAt < calmMsMax) {
      await pause(100);
      left = memoryOf(pid).now - this.calmMb;
    }
    return {
      ...{ reply, bytes: made.bytes, failures, growthMb: peak - before, leftMb: left },
      delayMs: Math.max(...samples.map(({ own }) => own)),
      measuredMs: Math.max(...samples.map(({ elapsed }) => elapsed)),
    };
  }

  watch() {
    const { url, pid } = this.gateway;
    const start = { url, pid, key: this.keys.other, model: 'co/acme/chat/defra', everyMs: 10 };
    this.threads.coTenant.postMessage({ start });
  }

  unwatch() {
    this.threads.coTenant.postMessage({ stop: true });
    return next(this.threads.coTenant);
  }
}

/** What exceeds its bound, in words; empty where nothing does. */
export function excesses({ delayMs, growthMb, leftMb, failures, reply }) {
  return [
    ...(delayMs < delayMsMax ? [] : [`another account waited ${delayMs.toFixed(0)} ms`]),
    ...(growthMb < growthMbMax ? [] : [`memory grew by ${growthMb.toFixed(0)} MB`]),
    ...(leftMb < growthMbMax ? [] : [`${leftMb.toFixed(0)} MB more than at first were left`]),
    ...(failures.length === 0 ? [] : [`the other account got ${failures[0]}`]),
    ...(reply.status === 200 || reply.status === 503
      ? []
      : [`the answer was ${reply.status}: ${reply.text.slice(0, 200)}`]),
  ];
}

function memoryOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024;
  return { now: field('VmRSS'), peak: field('VmHWM') };
}

/** Lets the system count the highest memory anew. */
function resetPeak(pid) {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
