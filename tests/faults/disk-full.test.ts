/** A disk that fills up under load: requests that cost money are refused, and every answer that was delivered is billed once. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { catalogueOf, type SpawnedGateway, spawnGateway } from '../support/gateway.js';
import * as up from '../support/scripted-upstream.js';
import { mountSmallDisk, type SmallDisk } from '../support/small-disk.js';
import { ask, costOf, expectBooks, expectError, pause, scaled } from './fixture.js';

const probe = mountSmallDisk(1);
probe?.remove();

const unavailable = { status: 503, type: 'internal_server_error', code: 'service_unavailable' };

describe.skipIf(!probe)('a full disk (skipped where a disk cannot be mounted)', () => {
  let disk: SmallDisk;
  let upstream: up.ScriptedUpstream;
  let gateway: SpawnedGateway;
  beforeAll(async () => {
    upstream = await up.startUpstream();
    disk = mountSmallDisk(160)!;
    gateway = await spawnGateway({
      embedded: true,
      config: { storage: { data_dir: `${disk.path}/data` } },
      catalogue: catalogueOf({ acme: upstream.url }),
    });
  }, 180_000);
  beforeEach(() => upstream.reset());
  afterEach(() => disk.free());
  afterAll(async () => {
    await gateway?.stop();
    await upstream.stop();
    disk?.remove();
  }, 180_000);

  const readiness = () => gateway.call('GET', '/readyz', undefined, { key: null });

  it('refuses what costs money before a provider is asked, says so at /readyz, finishes what is in flight, and recovers by itself', async () => {
    const account = await gateway.createAccount({ credit: '1000.00' });
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    upstream.onRequest((call) =>
      (call.json as { stream: boolean }).stream
        ? async (exchange) => {
            await exchange.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n');
            await exchange.write(up.frameText(up.chunk({ content: ' one' })));
            await finished;
            for (const frame of up.streamOf([' two'], { usage: up.usage(9, 2) }))
              await exchange.write(up.frameText(frame));
            await exchange.write(up.frameText('[DONE]'));
          }
        : up.json(up.completion()),
    );
    const streams = Array.from({ length: 20 }, () => gateway.stream(ask(), { key: account.key }));
    await upstream.waitForCalls(20);
    disk.fill();
    await expect.poll(async () => (await readiness()).status, { timeout: 60_000 }).toBe(503);
    const { json } = await readiness();
    expect(json.missing).toContain('journal');
    expect(json.reason).toMatch(/full|no space/i);
    const calls = upstream.calls.length;
    for (let i = 0; i < 30; i++) {
      const refused = await gateway.chat(ask(), { key: account.key });
      expectError(refused, unavailable);
      expect(refused.json.error.param ?? null).toBeNull();
    }
    expect(upstream.calls).toHaveLength(calls);
    finish();
    for (const stream of await Promise.all(streams)) expect(stream.done).toBe(true);
    disk.free();
    await expect.poll(async () => (await readiness()).status, { timeout: 60_000 }).toBe(200);
    expect((await gateway.chat(ask(), { key: account.key })).status).toBe(200);
    await expectBooks(gateway, account, {
      records: 21,
      costs: [...Array.from({ length: 20 }, () => costOf(9, 2)), costOf(9, 3)],
    });
  }, 180_000);

  it('every answer that was delivered on it is billed once after an orderly stop, which names what is not settled, and a start with space', async () => {
    const account = await gateway.createAccount({ credit: '1000.00' });
    upstream.onRequest(() => up.json(up.completion(), { delayMs: 5 }));
    expect((await gateway.chat(ask(), { key: account.key })).status).toBe(200);
    const delivered: string[] = [];
    let stopped = false;
    const callers = Array.from({ length: 8 }, async () => {
      while (!stopped) {
        const reply = await gateway.chat(ask(), { key: account.key }).catch(() => null);
        if (reply?.status === 200) delivered.push(String(reply.json.id));
        else if (reply && reply.status !== 503) throw new Error(`an answer of ${reply.status}`);
        await pause(scaled(50, 20));
      }
    });
    await expect.poll(() => delivered.length, { timeout: 60_000 }).toBeGreaterThan(50);
    disk.fill();
    await pause(1_500);
    const exit = await gateway.kill('SIGTERM');
    stopped = true;
    await Promise.all(callers);
    const reported = gateway.output.stderr.split('\n').filter((line) => line.startsWith('{"unsettled"'));
    expect(exit.code === 0).toBe(reported.length === 0);
    disk.free();
    await gateway.restart();
    const { json } = await gateway.admin('GET', `/accounts/${account.accountId}/ledger?limit=100000`);
    const billed = (json.data as { generation_id: string | null }[]).map(({ generation_id }) => generation_id);
    expect(delivered.filter((id) => billed.filter((other) => other === id).length !== 1)).toEqual([]);
  }, 180_000);
});
