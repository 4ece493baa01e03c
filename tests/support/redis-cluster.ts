/** A real Redis cluster of three masters for tests, whose nodes can be frozen, killed and restarted. */
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { keySlot, slotCount } from '../../src/cluster/redis/key-slot.js';
import { freePort } from './free-port.js';
import { startRedis, type TestRedis } from './redis.js';
import { redisBinary } from './redis-binary.js';

export interface TestCluster {
  readonly nodes: readonly TestRedis[];
  readonly urls: readonly string[];
  /** The node that keeps a key. */
  nodeOf(key: string): TestRedis;
  /** Resolves when every node knows of all the others and serves. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

/** Valkey as WebAssembly has no cluster. */
export const clusterIsPossible = (await redisBinary()).kind !== 'wasm';

const nodeCount = 3;
const settledMs = 60_000;

/** The nodes that are left keep serving their own slots while one is away. */
export async function startRedisCluster(): Promise<TestCluster> {
  const nodes: TestRedis[] = [];
  const stop = async () => void (await Promise.all(nodes.map((node) => node.stop())));
  try {
    for (let i = 0; i < nodeCount; i++) nodes.push(await startNode());
    const clients = nodes.map(({ url }) => new Redis(url));
    for (const [i, client] of clients.entries()) {
      client.on('error', () => {});
      const [from, to] = [firstSlot(i), firstSlot(i + 1) - 1];
      await client.call('cluster', 'addslotsrange', String(from), String(to));
      const { port } = new URL(nodes[0]!.url);
      if (i > 0) await client.call('cluster', 'meet', '127.0.0.1', port, busPorts.get(nodes[0]!)!);
    }
    for (const client of clients) client.disconnect();
    const cluster: TestCluster = {
      nodes,
      urls: nodes.map(({ url }) => url),
      nodeOf: (key) => nodes.findLast((_, i) => keySlot(key) >= firstSlot(i))!,
      settled: () => waitUntilSettled(nodes),
      stop,
    };
    await cluster.settled();
    return cluster;
  } catch (error) {
    await stop();
    throw error;
  }
}

const busPorts = new WeakMap<TestRedis, string>();

async function startNode(): Promise<TestRedis> {
  const busPort = String(await freePort());
  const settings = {
    'cluster-enabled': 'yes',
    'cluster-config-file': 'nodes.conf',
    'cluster-port': busPort,
    'cluster-node-timeout': '15000',
    'cluster-require-full-coverage': 'no',
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const node = await startRedis({ args });
  busPorts.set(node, busPort);
  return node;
}

function firstSlot(node: number): number {
  return Math.floor((node * slotCount) / nodeCount);
}

async function waitUntilSettled(nodes: readonly TestRedis[]): Promise<void> {
  const untilMs = Date.now() + settledMs;
  for (const { url } of nodes) {
    const client = new Redis(url, { retryStrategy: () => 50 });
    client.on('error', () => {});
    for (;;) {
      const info = String(await client.call('cluster', 'info'));
      const slots = (await client.call('cluster', 'slots')) as unknown[];
      if (info.includes('cluster_state:ok') && info.includes('cluster_slots_ok:16384') && slots.length === nodeCount)
        break;
      if (Date.now() > untilMs) throw new Error(`The cluster did not settle: ${info}`);
      await pause(50);
    }
    client.disconnect();
  }
}
