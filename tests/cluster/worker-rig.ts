/** A gateway of several workers for the tests beside this file: its processes, their connections, and streams that wait for a signal. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { expect } from 'vitest';
import { costOf, pico, words } from '../faults/fixture.js';
import type { GatewayClient, Json, TestAccount } from '../support/client.js';
import { catalogueOf, type SpawnedGateway, spawnGateway } from '../support/gateway.js';
import type { YamlObject } from '../support/gateway-files.js';
import { startRedis, type TestRedis } from '../support/redis.js';
import * as up from '../support/scripted-upstream.js';

export interface WorkerRig {
  readonly gateway: SpawnedGateway;
  readonly upstream: up.ScriptedUpstream;
  readonly redis: TestRedis;
  stop(): Promise<void>;
}

export interface WorkerRigOptions {
  workers: number;
  embedded?: boolean;
  config?: YamlObject;
}

export async function startWorkers({ workers, embedded = false, config = {} }: WorkerRigOptions): Promise<WorkerRig> {
  const redis = await startRedis();
  const upstream = await up.startUpstream();
  const gateway = await spawnGateway({
    config: { workers, storage: { redis_url: redis.url }, ...config },
    catalogue: catalogueOf({ acme: upstream.url }),
    embedded,
  });
  return {
    gateway,
    upstream,
    redis,
    async stop() {
      await gateway.stop();
      await Promise.all([upstream.stop(), redis.stop()]);
    },
  };
}

/** How long the gateway of a rig drains, as the tests choose it one after another. */
export class DrainTime {
  private chosen: string | null = null;

  constructor(private readonly rig: () => Pick<WorkerRig, 'gateway'>) {}

  /** From the next start on. */
  choose(drain: string): void {
    this.rig().gateway.files.changeConfig({ server: { drain } });
    this.chosen = drain;
  }

  /** The gateway with this drain time, started again where it has another, or where a test that failed has left it stopped. */
  async gatewayWith(drain: string): Promise<SpawnedGateway> {
    const { gateway } = this.rig();
    if (this.chosen === drain && (await gateway.serves())) return gateway;
    this.choose(drain);
    await gateway.restart();
    return gateway;
  }
}

/** The pids of the workers; the embedded store is a child too, but no node. */
export function workerPids(primary: number): number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,args=']).toString().split('\n');
  return lines
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((found) => found !== null && Number(found[2]) === primary && found[3]!.includes('main.js'))
    .map((found) => Number(found![1]));
}

export function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

/** How many connections to the port a process has open. */
export function connectionsOf(pid: number, port: number): number {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const established = readFileSync('/proc/net/tcp', 'latin1')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[1]?.endsWith(local) && fields[3] === '01')
    .map((fields) => `socket:[${fields[9]}]`);
  const own = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`)));
  return established.filter((socket) => own.has(socket)).length;
}

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return '';
  }
}

const streamTokens = 4;
export const streamCost = costOf(9, streamTokens);
export const streamText = words(streamTokens).join('');

export interface HeldStreams {
  /** Streams whose first frame has been sent. */
  begun: number;
  /** Lets all of them go on to their end. */
  release(): void;
}

/** Every stream of the upstream stops after its first content until it is released, and then goes on frame by frame. */
export function holdStreams(upstream: up.ScriptedUpstream, gapMs = 20): HeldStreams {
  const held = { begun: 0, release: () => {} };
  const released = new Promise<void>((resolve) => {
    held.release = resolve;
  });
  const frames = up.streamOf(words(streamTokens)).map(up.frameText);
  // With the role, if there is one, up to the first word.
  const first = frames.findIndex((frame) => frame.includes('" one"')) + 1;
  upstream.onRequest(() => async (exchange) => {
    await exchange.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n');
    for (const frame of frames.slice(0, first)) await exchange.writeChunk(frame);
    held.begun++;
    await Promise.race([released, exchange.closed]);
    for (const frame of [...frames.slice(first), 'data: [DONE]\n\n']) {
      await exchange.sleep(gapMs);
      await exchange.writeChunk(frame);
    }
    await exchange.write('0\r\n\r\n');
    exchange.done();
  });
  return held;
}

/** The usage entries of an account, by generation; each is there once, and the balance is the credit less their sum. */
export async function usageOf(
  gateway: GatewayClient,
  { accountId }: TestAccount,
  creditPico: bigint,
): Promise<Map<string, bigint>> {
  const { json } = await gateway.admin('GET', `/accounts/${accountId}/ledger?limit=100000`);
  const usage = new Map<string, bigint>();
  for (const { kind, generation_id, amount_usd } of json.data as Json[]) {
    if (kind !== 'usage') continue;
    expect(usage.has(String(generation_id))).toBe(false);
    usage.set(String(generation_id), -pico(amount_usd));
  }
  const spent = [...usage.values()].reduce((sum, cost) => sum + cost, 0n);
  expect(pico(await gateway.balance(accountId))).toBe(creditPico - spent);
  return usage;
}
