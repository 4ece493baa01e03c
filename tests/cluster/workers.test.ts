/** `workers: 2` on the embedded store, black box: one port, one start, one store, what happens when a part of it dies, and its end. */
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ask, costOf, pause, pin, promptTokens, scaled, tokensOf } from '../faults/fixture.js';
import { scrape, since } from '../observability/scrape.js';
import { GatewayClient, type TestAccount } from '../support/client.js';
import { catalogueOf, spawnGateway } from '../support/gateway.js';
import { RawConnection, requestBytes } from '../support/raw-http.js';
import * as up from '../support/scripted-upstream.js';
import { drainSuite } from './drain-suite.js';
import {
  connectionsOf,
  DrainTime,
  holdStreams,
  isRunning,
  startWorkers,
  streamCost,
  streamText,
  usageOf,
  type WorkerRig,
  workerPids,
} from './worker-rig.js';

const credit = '1000.00';
const creditPico = 1_000_000_000_000_000n;
const waitMs = { timeout: 60_000, interval: 50 };
const kills = scaled(1, 3);
/** A worker takes seconds to come back, and callers without a pause take the processor that it needs. */
const paceMs = scaled(100, 0);

let rig: WorkerRig;
let account: TestAccount;
beforeAll(async () => {
  rig = await startWorkers({ workers: 2, embedded: true, config: { demo: true } });
  account = await rig.gateway.createAccount({ credit });
}, 180_000);
afterAll(() => rig?.stop());

const portOf = () => Number(new URL(rig.gateway.url).port);
const logged = () => rig.gateway.output.stderr.split('\n').filter((line) => line.startsWith('{"level"'));
const twoServe = () =>
  vi.waitFor(() => {
    const starts = logged().filter((line) => line.includes('a worker serves again')).length;
    expect(starts).toBe(deaths);
    expect(workerPids(rig.gateway.pid)).toHaveLength(2);
  }, waitMs);
let deaths = 0;

describe('two workers on one embedded store', () => {
  it('print one ready line and one demo key, which works on both', async () => {
    await vi.waitFor(() => expect(rig.gateway.output.stdout).toContain('/claim#'), waitMs);
    const { stdout } = rig.gateway.output;
    expect(stdout.match(/Lodestone is ready/g)).toHaveLength(1);
    const keys = stdout.match(/^ {2}sk-lr-\S{43}$/gm) ?? [];
    expect(keys).toHaveLength(1);
    expect(workerPids(rig.gateway.pid)).toHaveLength(2);
    expect(readdirSync(rig.gateway.files.dataDir).filter((name) => name.startsWith('journal'))).toHaveLength(2);
  });

  it('share the connections of one port', async () => {
    const connections = await Promise.all(Array.from({ length: 40 }, () => RawConnection.open(rig.gateway.url)));
    for (const connection of connections) await connection.write(requestBytes('GET', '/healthz', {}));
    for (const connection of connections) await connection.readUntil((received) => received.includes('"ok"'), 20_000);
    const counts = workerPids(rig.gateway.pid).map((pid) => connectionsOf(pid, portOf()));
    for (const connection of connections) connection.close();
    console.log(`workers: 40 kept connections spread as ${counts.join(' and ')}`);
    // A connection goes to whoever is ready for one, so a busy machine spreads them less evenly.
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(4);
  });

  it('say in each log line which of them it is', () => {
    for (const worker of [1, 2]) {
      expect(logged().some((line) => line.includes(`"worker":${worker}`) && line.includes('catalogue loaded'))).toBe(
        true,
      );
    }
  });

  it('reload the catalogue together on SIGHUP', async () => {
    const loads = () =>
      [1, 2].map((n) => logged().filter((l) => l.includes(`"worker":${n}`) && l.includes('catalogue loaded')).length);
    const before = loads();
    rig.gateway.signal('SIGHUP');
    await vi.waitFor(() => expect(loads().every((count, index) => count > before[index]!)).toBe(true), waitMs);
  });

  const served = `lodestone_served_total{route="${pin}",stream="false",end="complete"}`;

  it('with two workers every scrape covers both, whichever answers it, and no counter ever falls', async () => {
    const { gateway } = rig;
    const { key } = await gateway.createAccount();
    const before = await scrape(gateway);
    const replies = await Promise.all(Array.from({ length: 60 }, () => gateway.chat(ask(), { key })));
    expect(replies.every(({ status }) => status === 200)).toBe(true);
    const after = await Promise.all(Array.from({ length: 8 }, () => scrape(gateway)));
    for (const series of after) {
      expect(since(before, series)[served]).toBe(60);
      expect(series.get('lodestone_workers')).toBe(2);
      expect(series.get('lodestone_workers_missing')).toBe(0);
      expect(series.get('lodestone_redis_up')).toBe(1);
    }
  });

  it('the reported counts of a killed worker stay in the sum', async () => {
    const before = await scrape(rig.gateway);
    process.kill(workerPids(rig.gateway.pid)[0]!, 'SIGKILL');
    deaths++;
    const seen: number[] = [];
    let workers = 0;
    for (const end = performance.now() + 60_000; performance.now() < end && !(workers === 2 && seen.length > 5); ) {
      // A connection to the one that was killed is reset.
      const series = await scrape(rig.gateway).catch(() => null);
      if (!series) continue;
      workers = series.get('lodestone_workers')!;
      seen.push(series.get(served)!);
    }
    expect(workers).toBe(2);
    expect(new Set(seen)).toEqual(new Set([before.get(served)]));
    await twoServe();
  }, 180_000);

  it('lose no answer that was delivered when one is killed under load, and bill none twice; another takes its place', async () => {
    const owner = await rig.gateway.createAccount({ credit });
    const delivered = new Map<string, bigint>();
    let stop = false;
    let waitedInVain = 0;
    rig.upstream.onRequest(() => up.json(up.completion()));
    const callers = Array.from({ length: 8 }, async () => {
      while (!stop) {
        // A connection of its own each time, so that both workers are called, and the new one too.
        const client = new GatewayClient(() => rig.gateway.url);
        const signal = AbortSignal.timeout(30_000);
        const reply = await client.chat(ask(), { key: owner.key, signal }).catch((error) => error as Error);
        // A connection that died with its worker is told of at once: nobody waits for an answer that cannot come.
        if (signal.aborted) waitedInVain++;
        if ('status' in reply && reply.status === 200) delivered.set(reply.json.id, costOf(9, 3));
        await client.close();
        await pause(paceMs);
      }
    });
    for (let round = 0; round < kills; round++) {
      const before = delivered.size;
      await vi.waitFor(() => expect(delivered.size).toBeGreaterThan(before + 20), waitMs);
      process.kill(workerPids(rig.gateway.pid)[round % 2]!, 'SIGKILL');
      deaths++;
      await twoServe();
    }
    stop = true;
    await Promise.all(callers);
    expect(waitedInVain).toBe(0);
    await vi.waitFor(async () => {
      const usage = await usageOf(rig.gateway, owner, creditPico);
      expect([...delivered].filter(([id, cost]) => usage.get(id) !== cost)).toEqual([]);
      // Answers whose caller lost its connection with the worker: at most what was under way at the kills.
      expect(usage.size - delivered.size).toBeLessThanOrEqual(8 * kills);
    }, waitMs);
    console.log(`workers: ${kills} kills, ${delivered.size} answers delivered, each in the ledger once`);
  }, 240_000);

  it('come back on the same port when both are killed at once, also where the system had chosen it', async () => {
    const killed = workerPids(rig.gateway.pid);
    for (const pid of killed) process.kill(pid, 'SIGKILL');
    deaths += 2;
    await twoServe();
    const client = new GatewayClient(() => rig.gateway.url);
    expect((await client.chat(ask(), { key: account.key })).status).toBe(200);
    await client.close();
    expect(workerPids(rig.gateway.pid).filter((pid) => killed.includes(pid))).toEqual([]);
  }, 180_000);

  it('finish and keep the running answers when the primary is killed, end by themselves, and the next start has it all', async () => {
    // Settled by then: what lost its caller in the kills before.
    const known = (await vi.waitFor(() => usageOf(rig.gateway, account, creditPico), waitMs)).size;
    const held = holdStreams(rig.upstream);
    const clients = Array.from({ length: 10 }, () => new GatewayClient(() => rig.gateway.url));
    const streams = clients.map((client) => client.stream(ask(), { key: account.key }));
    void Promise.allSettled(streams);
    await vi.waitFor(() => expect(held.begun).toBe(10), waitMs);
    const workers = workerPids(rig.gateway.pid);
    await rig.gateway.kill('SIGKILL');
    held.release();
    for (const { done, content } of await Promise.all(streams)) expect([done, content]).toEqual([true, streamText]);
    await vi.waitFor(() => expect(workers.filter(isRunning)).toEqual([]), waitMs);
    await Promise.all(clients.map((client) => client.close()));
    await rig.gateway.restart();
    const usage = await vi.waitFor(() => usageOf(rig.gateway, account, creditPico), waitMs);
    // Among those may be answers that lost their caller in the kills before, settled since.
    expect(usage.size).toBeGreaterThanOrEqual(known + 10);
    for (const reply of await Promise.all(streams)) {
      expect(usage.get(String(reply.headers['x-generation-id']))).toBe(streamCost);
    }
  }, 180_000);
});

describe('a start of workers that cannot be', () => {
  /** What it said before it ended. */
  const failureOf = async (config: object, catalogue?: object): Promise<string> => {
    const options = { config: { workers: 2, ...config }, ...(catalogue && { catalogue: { ...catalogue } }) };
    return spawnGateway(options).then(
      () => 'it started',
      (error) => String(error.message),
    );
  };

  it('says that more than one needs storage.redis_url', async () => {
    expect(await failureOf({})).toMatch(/workers: found 2.*storage\.redis_url/);
  });

  it('says once, plainly, what is wrong with the catalogue', async () => {
    const catalogue = { ...catalogueOf({ acme: rig.upstream.url }), providers: [{ id: 'acme', dialect: 'esperanto' }] };
    const failure = await failureOf({ storage: { redis_url: rig.redis.url } }, catalogue);
    expect(failure).toContain('ended with 1');
    expect(failure.match(/esperanto/g)).toHaveLength(1);
    expect(failure).not.toMatch(/\n\s+at /);
  }, 180_000);

  it('says once that the port is taken, and what to do', async () => {
    const server = { port: portOf() };
    const failure = await failureOf(
      { server, storage: { redis_url: rig.redis.url } },
      catalogueOf({ acme: rig.upstream.url }),
    );
    expect(failure.match(/Stop what uses it, or set PORT/g)).toHaveLength(1);
  }, 180_000);
});

const drain = new DrainTime(() => rig);

drainSuite({
  ...{ workers: 2, streamCount: scaled(20, 500), rig: () => rig },
  betweenStarts: () => drain.choose('500ms'),
});

describe('what outlives the drain time with several workers', () => {
  it('SIGTERM: streams that go on for longer than server.drain are ended, counted and settled by both workers, with exit 0', async () => {
    const { upstream } = rig;
    const gateway = await drain.gatewayWith('500ms');
    const owner = await gateway.createAccount({ credit });
    const held = holdStreams(upstream);
    const streams = Array.from({ length: 20 }, () => gateway.stream(ask(), { key: owner.key }));
    void Promise.allSettled(streams);
    await vi.waitFor(() => expect(held.begun).toBe(20), { timeout: 60_000 });
    expect(workerPids(gateway.pid)).toHaveLength(2);
    expect(await gateway.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    for (const { content, done } of await Promise.all(streams)) expect([content, done]).toEqual([' one', false]);
    await gateway.restart();
    const usage = await usageOf(gateway, owner, creditPico);
    expect([...usage.values()]).toEqual(Array(20).fill(costOf(promptTokens, tokensOf(' one'))));
  }, 180_000);

  it('SIGTERM: a worker that is killed while it drains is no clean end, and the exit code says so', async () => {
    const { upstream } = rig;
    const gateway = await drain.gatewayWith('500ms');
    const owner = await gateway.createAccount({ credit: '1.00' });
    const held = holdStreams(upstream);
    const streams = Array.from({ length: 4 }, () => gateway.stream(ask(), { key: owner.key }));
    void Promise.allSettled(streams);
    await vi.waitFor(() => expect(held.begun).toBe(4), { timeout: 60_000 });
    const [victim] = workerPids(gateway.pid);
    const exit = gateway.kill('SIGTERM');
    process.kill(victim!, 'SIGKILL');
    expect(await exit).toEqual({ code: 1, signal: null });
  }, 180_000);
});
