import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compiled } from '../../tests/support/compiled.js';
import { LockHeld, takeLock } from './lock.js';
import { here, machineId, type Surroundings } from './lock-holder.js';
import { showSign } from './lock-sign.js';

const linux = process.platform === 'linux';

let dir: string;
let file: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'lodestone-lock-'));
  file = join(dir, 'lock');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Takes the lock and releases it; throws LockHeld where it is not free. */
async function takeOnce(us?: Surroundings): Promise<void> {
  (await takeLock(file, 'The directory /x', us)).release();
}
const hold = (holder: object) => writeFileSync(file, JSON.stringify(holder));

describe('takeLock', () => {
  it('refuses a second holder while the first lives, naming the directory and the pid', async () => {
    const lock = await takeLock(file, 'The data directory /x');
    await expect(takeOnce()).rejects.toThrow(LockHeld);
    await expect(takeOnce()).rejects.toThrow(new RegExp(`/x .*pid ${process.pid}`));
    lock.release();
    await takeOnce();
    expect(readdirSync(dir)).toEqual([]);
  });

  it('takes over from a process that is gone', async () => {
    hold({ pid: spawnSync(process.execPath, ['-e', '']).pid, began: null });
    await takeOnce();
  });

  it.runIf(linux)('takes over where the pid now belongs to a process that began later', async () => {
    hold({ pid: process.pid, began: `1@${here.boot}`, space: here.space });
    await takeOnce();
  });

  it('takes over a lock that a power failure left empty', async () => {
    writeFileSync(file, '');
    await takeOnce();
  });

  it('does not release a lock that it no longer holds', async () => {
    const lock = await takeLock(file, 'x');
    hold({ pid: process.ppid, began: null });
    lock.release();
    await expect(takeOnce()).rejects.toThrow(LockHeld);
  });

  it('is got by one of many that find the same stale lock at once', async () => {
    for (let round = 0; round < 20; round++) {
      hold({ pid: spawnSync('/bin/true').pid, began: null });
      const taken = await Promise.allSettled(Array.from({ length: 8 }, () => takeLock(file, 'x')));
      const locks = taken.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
      expect(locks).toHaveLength(1);
      locks[0]!.release();
      expect(readdirSync(dir)).toEqual([]);
    }
  });

  it.runIf(linux)('is taken from a process that was killed, and never from the same one while it lives', async () => {
    const code = compiled('base/lock');
    writeFileSync(
      join(code, 'child.mjs'),
      `import { takeLock } from './base/lock.js';
       await takeLock(process.argv[2], 'x');
       console.log('held');
       setInterval(() => {}, 1000);`,
    );
    const child = spawn(process.execPath, [join(code, 'child.mjs'), file], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    // Also where its pid means nothing, as from another container on this kernel.
    const elsewhere = { ...here, space: 'pid:[1]' };
    await expect(takeOnce()).rejects.toThrow(`pid ${child.pid}`);
    await expect(takeOnce(elsewhere)).rejects.toMatchObject({ certain: true });
    const left = readFileSync(file, 'utf8');
    child.kill('SIGKILL');
    await once(child, 'exit');
    await takeOnce(elsewhere);
    expect(readdirSync(dir)).toEqual([]);
    writeFileSync(file, left);
    await takeOnce();
    rmSync(code, { recursive: true, force: true });
  });
});

describe.runIf(linux)('a lock of a process that shares no pids with this one', () => {
  /** The first process of every container is pid 1, and this system has one too. */
  const container = { pid: 1, space: 'pid:[4026599999]', host: 'c0ffee', machine: null };
  const onThisKernel = { ...container, began: `777@${here.boot}` };
  const onAnother = { ...container, began: '777@1c0de-of-another-boot' };
  const network: Surroundings = { ...here, isLocal: () => false };

  it('is kept while its socket answers, and free once that refuses, on one kernel', async () => {
    const sign = await showSign(dir, 'lock.abc.sock');
    hold({ ...onThisKernel, sign: 'lock.abc.sock' });
    await expect(takeOnce()).rejects.toMatchObject({ certain: true });
    // A killed process leaves a socket file without a listener.
    const dead = await deadSocket();
    sign?.close();
    hold({ ...onThisKernel, sign: dead });
    await takeOnce();
    expect(readdirSync(dir)).toEqual([]);
  });

  it('is kept where nothing tells, with the file to remove in the message', async () => {
    hold({ ...onThisKernel, sign: null });
    await expect(takeOnce()).rejects.toMatchObject({ certain: false });
    hold({ ...onThisKernel, sign: 'lock.missing.sock' });
    await expect(takeOnce()).rejects.toThrow(new RegExp(`pid 1 on "c0ffee".*remove ${file}`));
  });

  it('is kept on a network file system, where its host may be alive, and free on a disk that only one kernel uses', async () => {
    hold(onAnother);
    await expect(takeOnce(network)).rejects.toMatchObject({ certain: false });
    await takeOnce({ ...here, isLocal: () => true });
  });

  it('is free on a network file system where the same host has been started anew', async () => {
    const known = { ...network, machine: '0123456789abcdef0123456789abcdef' };
    hold({ ...onAnother, host: here.host, machine: known.machine });
    await takeOnce(known);
    hold({ ...onAnother, host: here.host, machine: 'of another machine with this name' });
    await expect(takeOnce(known)).rejects.toMatchObject({ certain: false });
  });

  it('is kept on a network file system between two live hosts of one name that have no machine id', async () => {
    const one: Surroundings = { ...network, host: 'gateway', machine: null };
    const other: Surroundings = { ...one, boot: 'the-boot-of-the-other' };
    const lock = await takeLock(file, 'x', one);
    await expect(takeOnce(other)).rejects.toMatchObject({ certain: false });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ pid: process.pid, host: 'gateway' });
    lock.release();
    await takeOnce(other);
  });

  it('names no machine where the system has an id that others have too', () => {
    const unset = join(dir, 'machine-id');
    expect(machineId({}, unset)).toBeNull();
    writeFileSync(unset, 'uninitialized\n');
    expect(machineId({}, unset)).toBeNull();
    writeFileSync(unset, '0123456789abcdef0123456789abcdef\n');
    expect(machineId({}, unset)).toBe('0123456789abcdef0123456789abcdef');
    expect(machineId({ LODESTONE_MACHINE_ID: 'lodestone/lodestone-0' }, unset)).toBe('lodestone/lodestone-0');
  });

  it('shows its sign in a directory of any depth', async () => {
    const deep = join(dir, 'd'.repeat(120), 'e'.repeat(120));
    mkdirSync(deep, { recursive: true });
    const lock = await takeLock(join(deep, 'lock'), 'x');
    const { sign } = JSON.parse(readFileSync(join(deep, 'lock'), 'utf8'));
    expect(readdirSync(deep)).toContain(sign);
    lock.release();
    expect(readdirSync(deep)).toEqual([]);
  });

  async function deadSocket(): Promise<string> {
    const script = `require('net').createServer().listen('${dir}/lock.dead.sock', () => process.kill(process.pid, 'SIGKILL'))`;
    await once(spawn(process.execPath, ['-e', script]), 'exit');
    return 'lock.dead.sock';
  }
});
