/** The compiled built-in catalogue equals its files, and a file that has changed since is read directly. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { silentLogger } from '../../src/base/logger.js';
import { builtinFiles, type CompiledCatalogue, digestOf } from '../../src/catalogue/builtin.js';
import { dialects } from '../../src/providers/dialects/registry.js';

type Holder = typeof import('../../src/catalogue/catalogue-holder.js');

const root = resolve(import.meta.dirname, '../..');
const copy = mkdtempSync(join(tmpdir(), 'lodestone-builtin-'));
beforeAll(() => {
  cpSync(join(root, 'catalogue'), join(copy, 'catalogue'), { recursive: true });
  for (const part of ['base', 'config', 'errors', 'catalogue']) {
    cpSync(join(root, 'dist', part), join(copy, 'dist', part), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  writeFileSync(join(copy, 'package.json'), '{"type":"module"}');
});
afterEach(() => cpSync(join(root, 'catalogue'), join(copy, 'catalogue'), { recursive: true }));
afterAll(() => rmSync(copy, { recursive: true }));

async function reload() {
  const { CatalogueHolder } = (await import(
    /* @vite-ignore */ pathToFileURL(join(copy, 'dist/catalogue/catalogue-holder.js')).href
  )) as Holder;
  const holder = new CatalogueHolder({
    files: ['builtin'],
    providerSettings: {},
    env: {},
    clock: { now: () => 0, monotonicMs: () => 0 },
    logger: silentLogger,
    dialects,
  });
  return { outcome: await holder.reload(), snapshot: holder.current };
}

const file = join(copy, 'catalogue/models/cohere.yaml');

describe('the compiled catalogue', () => {
  it('has the value of every file', () => {
    const compiled = JSON.parse(readFileSync(join(root, 'dist/catalogue/builtin.json'), 'utf8')) as CompiledCatalogue;
    expect(Object.keys(compiled)).toEqual(builtinFiles.map(({ name }) => name));
    for (const { name, url } of builtinFiles) {
      const text = readFileSync(url, 'utf8');
      expect(compiled[name], name).toEqual({ digest: digestOf(text), value: parse(text) });
    }
  });

  it('gives way to a file that says something else now', async () => {
    const text = readFileSync(file, 'utf8');
    expect((await reload()).snapshot?.routes.get('cohere/cohere/command-a/global')?.price?.input).toBe(2_500_000n);
    writeFileSync(file, text.replace('input: 2.5', 'input: 2.25'));
    expect((await reload()).snapshot?.routes.get('cohere/cohere/command-a/global')?.price?.input).toBe(2_250_000n);
  });

  it('hides no fault, and reports its line', async () => {
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('provider: cohere', 'provider: coherent'));
    const line = text.slice(0, text.indexOf('provider: cohere')).split('\n').length;
    const { outcome } = await reload();
    expect(outcome).toEqual({
      ok: false,
      faults: [expect.stringContaining(`cohere.yaml:${line}:21: models[0].routes[0].provider: found "coherent"`)],
    });
  });

  it('reports the line of a fault that shows only together with another file', async () => {
    const providers = join(copy, 'catalogue/providers/creators.yaml');
    const text = readFileSync(providers, 'utf8');
    writeFileSync(providers, text.replace('id: cohere', 'id: coherent'));
    const { outcome } = await reload();
    expect(outcome.ok).toBe(false);
    expect(!outcome.ok && outcome.faults[0]).toMatch(
      /cohere\.yaml:\d+:\d+: models\[0\]\.routes\[0\]\.provider: found "cohere"/,
    );
  });
});
