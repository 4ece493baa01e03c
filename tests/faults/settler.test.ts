/** The process that settles: killed under load, left alone by its gateway, beside a second one, and before a damaged journal. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestAccount } from '../support/client.js';
import type { SpawnedGateway } from '../support/gateway.js';
import * as up from '../support/scripted-upstream.js';
import { ask, costOf, expectBooks, expectServes, pause, type Rig, scaled, spawnRig } from './fixture.js';

let rig: Rig<SpawnedGateway>;
beforeAll(async () => {
  rig = await spawnRig();
}, 180_000);
afterAll(() => rig.stop());

const cli = fileURLToPath(new URL('../../bin/lodestone', import.meta.url));

/** The process that the gateway has started to settle. */
function settlerPid(): number {
  const children = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(rig.gateway.pid)], { encoding: 'utf8' });
  const line = children.split('\n').find((text) => text.includes('settle.js'));
  return Number.parseInt(line ?? '', 10);
}

async function answers(account: TestAccount, count: number): Promise<string[]> {
  rig.upstream.onRequest(() => up.json(up.completion()));
  const replies = await Promise.all(Array.from({ length: count }, () => rig.gateway.chat(ask(), { key: account.key })));
  for (const { status } of replies) expect(status).toBe(200);
  return replies.map(({ json }) => String(json.id));
}

async function rowsOf(ids: readonly string[]): Promise<string[]> {
  const client = new pg.Client(rig.gateway.files.databaseUrl!);
  await client.connect();
  try {
    const query = 'select id from lodestone.generations where id = any($1)';
    return (await client.query<{ id: string }>(query, [ids])).rows.map(({ id }) => id);
  } finally {
    await client.end();
  }
}

it('a settler that is killed again and again under load is replaced each time, and every answer is in the ledger once', async () => {
  const account = await rig.gateway.createAccount({ credit: '10.00' });
  const ids: string[] = [];
  for (let round = 0; round < scaled(3, 60); round++) {
    const running = answers(account, 10);
    await pause(round * 7);
    const pid = settlerPid();
    if (pid > 0) process.kill(pid, 'SIGKILL');
    ids.push(...(await running));
    const { status } = await rig.gateway.call('GET', `/v1/generation?id=${ids.at(-1)}`, undefined, {
      key: account.key,
    });
    expect(status).toBe(200);
  }
  await expectBooks(rig.gateway, account, { records: ids.length, costs: ids.map(() => costOf(9, 3)) });
  expect(rig.gateway.output.stderr + rig.gateway.output.stdout).toContain('the settler ended unexpectedly');
}, 180_000);

it('a second settler of the same directory ends with words', () => {
  const { status, stderr } = spawnSync(process.execPath, [cli, 'settle', '--config', rig.gateway.files.configFile], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
  });
  expect(status).toBe(1);
  expect(stderr).toMatch(/The settlement of \S+ is in use by another Lodestone process \(pid \d+\)/);
});

it('what a killed gateway left is settled without a start, and its settler ends', async () => {
  const account = await rig.gateway.createAccount({ credit: '10.00' });
  const pid = settlerPid();
  const ids = await answers(account, 20);
  await rig.gateway.kill('SIGKILL');
  await expect.poll(() => rowsOf(ids), { timeout: 20_000 }).toHaveLength(20);
  await expect.poll(() => runs(pid), { timeout: 20_000 }).toBe(false);
  await rig.gateway.restart();
  await expectServes(rig);
}, 120_000);

it('a journal with a damaged record is settled but for that record, which the metrics and the log tell of', async () => {
  const account = await rig.gateway.createAccount({ credit: '10.00' });
  // Stopped, so that the records are still in the journal when both are killed.
  const pid = settlerPid();
  process.kill(pid, 'SIGSTOP');
  const ids: string[] = [];
  for (let i = 0; i < 9; i++) ids.push(...(await answers(account, 1)));
  await rig.gateway.kill('SIGKILL');
  process.kill(pid, 'SIGKILL');
  const folder = join(rig.gateway.files.dataDir, 'journal');
  const name = readdirSync(folder).find((file) => file.endsWith('.log'))!;
  const bytes = readFileSync(join(folder, name));
  bytes[bytes.indexOf(ids[4]!) + 6]! ^= 4;
  writeFileSync(join(folder, name), bytes);
  const shown = spawnSync(process.execPath, [cli, 'journal', 'show', folder], { encoding: 'utf8' });
  expect(shown.status).toBe(1);
  expect(
    shown.stdout
      .trim()
      .split('\n')
      .slice(-ids.length)
      .map((line) => JSON.parse(line).record?.id ?? null),
  ).toEqual(ids.map((id, i) => (i === 4 ? null : id)));
  await rig.gateway.restart();
  await expect.poll(() => rowsOf(ids), { timeout: 20_000 }).toHaveLength(8);
  const metrics = async () => (await rig.gateway.call('GET', '/metrics', undefined, { key: null })).text;
  await expect.poll(metrics, { timeout: 20_000 }).toMatch(/^lodestone_journal_damaged_total 1$/m);
  expect(rig.gateway.output.stderr + rig.gateway.output.stdout).toContain('a part of the journal is damaged');
}, 120_000);

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
