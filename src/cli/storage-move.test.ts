import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { takeLock } from '../base/lock.js';
import { main } from './cli.js';

const folder = mkdtempSync(join(tmpdir(), 'lodestone-move-'));
afterAll(() => rmSync(folder, { recursive: true }));

it.each([
  ['storage move --to postgres://127.0.0.1:1/x', 'Stop it before the move.'],
  ['storage check', 'Name that gateway with --url, or stop it.'],
])('%s beside a running gateway says what to do, once', async (line, remedy) => {
  writeFileSync(join(folder, 'lodestone.yaml'), `storage: { data_dir: ${folder}/data }\nserver: { port: 1 }\n`);
  const lock = await takeLock(join(folder, 'data', 'lodestone.lock'), 'The data directory');
  const err: string[] = [];
  const io = { out: () => {}, err: (text: string) => err.push(text), env: {}, cwd: folder };
  const code = await main([...line.split(' '), '--config', join(folder, 'lodestone.yaml')], io);
  lock.release();
  expect(code).toBe(1);
  expect(err.join('\n')).toMatch(/is in use by another Lodestone process \(pid \d+\)\. /);
  expect(err.join('\n').split('). ')[1]).toBe(remedy);
});
