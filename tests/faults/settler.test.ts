/** The process that settles: killed under load, left alone by its gateway, beside a second one, before a damaged journal, of another version. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { socketFile } from '../../src/app/settler/messages.js';
import { takeLock } from '../../src/base/lock.js';
import { closeFrame, frameBytes, scanFrames } from '../../src/journal/frames.js';
import type { TestAccount } from '../support/client.js';
import type { SpawnedGateway } from '../support/gateway.js';
import * as up from '../support/scripted-upstream.js';
import { ask, costOf, expectBooks, expectServes, pause, type Rig, scaled, spawnRig } from './fixture.js';
import { settlerPid } from './settler-pid.js';

let rig: Rig<SpawnedGateway>;
beforeAll(async () => {
  rig = await spawnRig();
}, 180_000);
afterAll(() => rig.stop());

const cli = fileURLToPath(new URL('../../bin/lodestone', import.meta.url));

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
    const pid = settlerPid(rig.gateway);
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

it.runIf(process.platform === 'linux')('a settler leaves a core to requests first', () => {
  const niceness = getPriority(settlerPid(rig.gateway)) - getPriority(rig.gateway.pid);
  expect(niceness).toBe(3);
});

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
  const pid = settlerPid(rig.gateway);
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
  const pid = settlerPid(rig.gateway);
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

describe('a settler and a process that serves of different versions', () => {
  /** Of a version that does not exist yet: messages and members that this one does not know, and what is no message. */
  const later = ['{"type":"news","text":"later"}', '{"type":"news"}', 'no message', 'null'];

  it('a settler gets messages of a later version: it passes over them, logs both versions and settles on', async () => {
    const account = await rig.gateway.createAccount({ credit: '10.00' });
    const pid = settlerPid(rig.gateway);
    const { dataDir } = rig.gateway.files;
    const socket = connect(socketFile(dataDir));
    const attach = {
      type: 'attach',
      dir: join(dataDir, 'journal-9'),
      run: 'later',
      shares: false,
      version: '99.0.0',
      more: 1,
    };
    for (const line of [JSON.stringify(attach), ...later, '{"type":"replayed","ask":7,"timeoutMs":9000}'])
      socket.write(`${line}\n`);
    let told = '';
    socket.on('data', (text) => {
      told += text;
    });
    await expect.poll(() => told, { timeout: 10_000 }).toContain('{"type":"replayed","ask":7,"isReplayed":true}');
    socket.destroy();
    const ids = await answers(account, 3);
    await expect.poll(() => rowsOf(ids), { timeout: 20_000 }).toHaveLength(3);
    expect(settlerPid(rig.gateway)).toBe(pid);
    expect(rig.gateway.output.stderr).toMatch(/"theirs":"99\.0\.0","version":"\d+\.\d+\.\d+"/);
  });

  it('a settler of a later version serves a process: what that does not know ends nothing, and its own settler follows', async () => {
    const account = await rig.gateway.createAccount({ credit: '10.00' });
    await rig.gateway.kill('SIGTERM');
    const { dataDir } = rig.gateway.files;
    const lock = await takeLock(join(dataDir, 'settle.lock'), 'The settlement');
    const heard: string[] = [];
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket);
      for (const line of later) socket.write(`${line}\n`);
      socket.on('error', () => {});
      socket.setEncoding('utf8').on('data', (text: string) => {
        for (const line of text.split('\n').filter((part) => part.includes('"replayed"')))
          socket.write(`{"type":"replayed","ask":${JSON.parse(line).ask},"isReplayed":true,"more":[]}\n`);
        heard.push(text);
      });
    }).listen(socketFile(dataDir));
    await rig.gateway.restart();
    const { pid } = rig.gateway;
    const ids = await answers(account, 3);
    await expect.poll(() => heard.join('')).toMatch(/"type":"attach".*"version":"\d/);
    expect(await rowsOf(ids)).toEqual([]);
    server.close();
    for (const socket of sockets) socket.destroy();
    lock.release();
    await expect.poll(() => rowsOf(ids), { timeout: 20_000 }).toHaveLength(3);
    expect(rig.gateway.pid).toBe(pid);
    await expectBooks(rig.gateway, account, { records: 3, costs: ids.map(() => costOf(9, 3)) });
  }, 120_000);

  it('what a later version left, in a database that it has migrated: the settler settles what it knows and keeps the rest', async () => {
    const account = await rig.gateway.createAccount({ credit: '10.00' });
    const pid = settlerPid(rig.gateway);
    process.kill(pid, 'SIGSTOP');
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push(...(await answers(account, 1)));
    await rig.gateway.kill('SIGKILL');
    process.kill(pid, 'SIGKILL');
    const folder = join(rig.gateway.files.dataDir, 'journal');
    const frame = changeKind(folder, ids[2]!, 9);
    const client = new pg.Client(rig.gateway.files.databaseUrl!);
    await client.connect();
    await client.query(`
      alter table lodestone.accounts add column colour text, add column weight bigint not null default 7;
      alter table lodestone.generations add column shade text not null default 'plain';
      alter table lodestone.journal_offsets add column shade text;
      insert into lodestone.lodestone_migrations (name) values ('9001-next');`);
    await client.end();
    const begun = rig.gateway.output.stderr.length;
    await rig.gateway.restart();
    await expect.poll(() => rowsOf(ids), { timeout: 20_000 }).toHaveLength(4);
    await expect.poll(() => existsSync(join(folder, 'set-aside.log')), { timeout: 20_000 }).toBe(true);
    const aside = JSON.parse(readFileSync(join(folder, 'set-aside.log'), 'utf8').trim());
    expect(aside.error).toContain('was it written by a later version?');
    expect(Buffer.from(aside.record, 'base64')).toEqual(frame);
    const metrics = async () => (await rig.gateway.call('GET', '/metrics', undefined, { key: null })).text;
    await expect.poll(metrics, { timeout: 20_000 }).toMatch(/^lodestone_journal_set_aside_total 1$/m);
    const log = rig.gateway.output.stderr.slice(begun).split('\n');
    expect(log.some((line) => line.includes('"settler":') && line.includes('migrated by a newer version'))).toBe(true);
    await expectServes(rig);
  }, 120_000);
});

/** Makes a record one of another kind, its checksum included. Returns its frame. */
function changeKind(folder: string, id: string, kind: number): Buffer {
  const name = readdirSync(folder).find((file) => file.endsWith('.log'))!;
  const bytes = readFileSync(join(folder, name));
  let frame = Buffer.alloc(0);
  scanFrames(bytes, true, {
    take(start, end) {
      if (!bytes.subarray(start, end).includes(id)) return true;
      bytes[start + frameBytes] = kind;
      closeFrame(bytes, start, end);
      frame = Buffer.from(bytes.subarray(start, end));
      return false;
    },
    damaged: () => true,
  });
  writeFileSync(join(folder, name), bytes);
  return frame;
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
