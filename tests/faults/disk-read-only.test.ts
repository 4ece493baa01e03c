/** A disk that cannot be written, from the start on or while the gateway serves: what costs money is refused, and nothing is lost. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { TestAccount } from '../support/client.js';
import { catalogueOf, type SpawnedGateway, spawnGateway } from '../support/gateway.js';
import * as up from '../support/scripted-upstream.js';
import { type BreakableDisk, mountBreakableDisk, mountSmallDisk, type SmallDisk } from '../support/small-disk.js';
import { ask, costOf, expectBooks, expectError } from './fixture.js';
import { settlerPid } from './settler-pid.js';

const cli = fileURLToPath(new URL('../../bin/lodestone', import.meta.url));
const unavailable = { status: 503, type: 'internal_server_error', code: 'service_unavailable' };

const small = mountSmallDisk(1);
small?.remove();
const breakable = mountBreakableDisk(8);
breakable?.remove();

describe.skipIf(!small)('a start on a read-only disk (skipped where a disk cannot be mounted)', () => {
  let disk: SmallDisk;
  let folder: string;
  beforeAll(() => {
    disk = mountSmallDisk(8)!;
    folder = mkdtempSync(join(tmpdir(), 'lodestone-read-only-'));
  });
  afterAll(() => {
    disk.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const commands = [['serve'], ['serve', 'workers'], ['settle']];
  it.each(commands)(
    'ends "lodestone %s" (%s) with one line that names the directory and the remedy',
    (command, more) => {
      const configFile = join(folder, 'lodestone.yaml');
      for (const [state, dataDir] of Object.entries({ fresh: join(disk.path, 'fresh', 'data'), there: disk.path })) {
        const storage = { data_dir: dataDir, ...(more && { redis_url: 'redis://127.0.0.1:1' }) };
        writeFileSync(configFile, JSON.stringify({ server: { port: 0 }, storage, ...(more && { workers: 2 }) }));
        disk.setReadOnly(true);
        const ended = spawnSync(process.execPath, [cli, command!, '--config', configFile], {
          encoding: 'utf8',
          env: { PATH: process.env.PATH, HOME: process.env.HOME },
        });
        disk.setReadOnly(false);
        expect(ended.status, state).toBe(1);
        const lines = ended.stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
        expect(lines, ended.stderr).toEqual([
          `${dataDir} cannot be written (EROFS: read-only file system). Mount its disk so that it can be written, or set storage.data_dir to another directory.`,
        ]);
      }
    },
  );
});

describe.skipIf(!breakable)('a disk that becomes read-only (skipped where a disk cannot be mounted and broken)', () => {
  let disk: BreakableDisk;
  let upstream: up.ScriptedUpstream;
  let gateway: SpawnedGateway;
  let account: TestAccount;
  beforeAll(async () => {
    upstream = await up.startUpstream();
    disk = mountBreakableDisk(64)!;
    gateway = await spawnGateway({
      config: { storage: { data_dir: `${disk.path}/data` } },
      catalogue: catalogueOf({ acme: upstream.url }),
    });
  }, 180_000);
  beforeEach(async () => {
    upstream.reset();
    account = await gateway.createAccount({ credit: '10.00' });
  });
  afterAll(async () => {
    await gateway?.stop();
    await upstream.stop();
    disk?.remove();
  }, 180_000);

  const readiness = () => gateway.call('GET', '/readyz', undefined, { key: null });
  const logged = (text: string) => () => gateway.output.stderr.includes(text);

  /** Streams that are in the middle of their text until they may go on. */
  async function heldStreams(count: number) {
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    upstream.onRequest((call) =>
      (call.json as { stream?: boolean }).stream
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
    const streams = Array.from({ length: count }, () => gateway.stream(ask(), { key: account.key }));
    await upstream.waitForCalls(count);
    return async () => {
      finish();
      for (const stream of await Promise.all(streams)) expect(stream.done).toBe(true);
    };
  }

  async function expectRefusals(): Promise<void> {
    await expect.poll(async () => (await readiness()).status, { timeout: 20_000 }).toBe(503);
    expect((await readiness()).json.missing).toEqual(['journal']);
    const calls = upstream.calls.length;
    for (let i = 0; i < 20; i++) expectError(await gateway.chat(ask(), { key: account.key }), unavailable);
    expect(upstream.calls).toHaveLength(calls);
  }

  it('refuses what costs money before a provider is asked, also without its settler, and recovers by itself', async () => {
    const finish = await heldStreams(5);
    disk.freeze(true);
    onTestFinished(() => disk.freeze(false));
    await expectRefusals();
    await finish();
    process.kill(settlerPid(gateway), 'SIGKILL');
    await expect.poll(logged(`"error":"${disk.path}/data cannot be written (`), { timeout: 20_000 }).toBe(true);
    disk.freeze(false);
    await expect.poll(async () => (await readiness()).status, { timeout: 20_000 }).toBe(200);
    expect((await gateway.chat(ask(), { key: account.key })).status).toBe(200);
    const costs = [...Array.from({ length: 5 }, () => costOf(9, 2)), costOf(9, 3)];
    await expectBooks(gateway, account, { records: 6, costs });
  }, 120_000);

  it('of a gateway that then stops: what the disk did not take goes to PostgreSQL, and the stop is an orderly one', async () => {
    const finish = await heldStreams(5);
    disk.breakNow();
    await expectRefusals();
    expect((await readiness()).json.reason).toContain('EROFS: read-only file system');
    await finish();
    expect(await gateway.kill('SIGTERM')).toMatchObject({ code: 0 });
    expect(gateway.output.stderr).not.toContain('{"unsettled"');
    expect(gateway.output.stderr).toMatch(/"dir":"\S+data\/journal","reason":"EROFS: read-only file system"/);
    disk.mountAnew();
    await gateway.restart();
    await expectBooks(gateway, account, { records: 5, costs: Array.from({ length: 5 }, () => costOf(9, 2)) });
    expect((await gateway.chat(ask(), { key: account.key })).status).toBe(200);
  }, 120_000);
});
