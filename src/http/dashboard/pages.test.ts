import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtFile } from './pages.js';

let folder: string;
beforeAll(() => {
  const parent = mkdtempSync(join(tmpdir(), 'lodestone-built-'));
  folder = join(parent, 'dist');
  mkdirSync(join(folder, 'assets'), { recursive: true });
  mkdirSync(join(folder, '.vite'));
  writeFileSync(join(parent, 'secret.json'), 'secret');
  for (const name of [
    'index.html',
    'assets/app-1.js',
    'assets/app-1.js.br',
    'assets/app-1.js.gz',
    '.vite/manifest.json',
  ]) {
    writeFileSync(join(folder, name), name);
  }
});
afterAll(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

const bodyOf = async (name: string, accepted?: string) => (await builtFile(folder, name, accepted))?.body.toString();

describe('builtFile', () => {
  it.each([
    [undefined, 'assets/app-1.js', null],
    ['gzip, deflate, br', 'assets/app-1.js.br', 'br'],
    ['gzip', 'assets/app-1.js.gz', 'gzip'],
    ['br;q=0, gzip', 'assets/app-1.js.gz', 'gzip'],
    ['identity', 'assets/app-1.js', null],
  ])('for accept-encoding %s gives %s', async (accepted, body, contentEncoding) => {
    const file = await builtFile(folder, 'assets/app-1.js', accepted);
    expect([file?.body.toString(), file?.contentEncoding]).toEqual([body, contentEncoding]);
    expect(file?.contentType).toBe('text/javascript; charset=utf-8');
  });

  it('gives the plain file where the build did not compress it', async () => {
    expect(await bodyOf('index.html', 'br')).toBe('index.html');
  });

  it.each([
    '../secret.json',
    'assets/../../secret.json',
    '/etc/hosts.txt',
    '.vite/manifest.json',
    'assets/app-1.js.br',
    'assets',
    'assets/none.js',
    'index.html\0.js',
    '',
  ])('has nothing under %j', async (name) => {
    expect(await bodyOf(name)).toBeUndefined();
  });
});
