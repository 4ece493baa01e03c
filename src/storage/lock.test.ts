import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LockHeld, takeLock } from './lock.js';

describe('takeLock', () => {
  let dir: string;
  let file: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'lodestone-lock-'));
    file = join(dir, 'lock');
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it('refuses a second holder while the first lives, naming the directory and the pid', () => {
    const lock = takeLock(file, 'The data directory /x');
    expect(() => takeLock(file, 'The data directory /x')).toThrow(LockHeld);
    expect(() => takeLock(file, 'The data directory /x')).toThrow(new RegExp(`/x .*pid ${process.pid}`));
    lock.release();
    takeLock(file, 'again').release();
    expect(readdirSync(dir)).toEqual([]);
  });

  it('takes over from a process that is gone', () => {
    const gone = spawnSync(process.execPath, ['-e', '']).pid;
    writeFileSync(file, JSON.stringify({ pid: gone, began: null }));
    takeLock(file, 'x').release();
  });

  it.runIf(process.platform === 'linux')('takes over where the pid now belongs to a process that began later', () => {
    writeFileSync(file, JSON.stringify({ pid: process.pid, began: '1@another-boot' }));
    takeLock(file, 'x').release();
  });

  it('takes over a lock that a power failure left empty', () => {
    writeFileSync(file, '');
    takeLock(file, 'x').release();
  });

  it('does not release a lock that it no longer holds', () => {
    const lock = takeLock(file, 'x');
    writeFileSync(file, JSON.stringify({ pid: process.ppid, began: null }));
    lock.release();
    expect(() => takeLock(file, 'x')).toThrow(LockHeld);
  });
});
