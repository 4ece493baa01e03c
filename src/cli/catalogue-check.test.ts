import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { main } from './cli.js';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'lodestone-check-'));
  writeFileSync(join(cwd, 'base.yaml'), base);
  writeFileSync(join(cwd, 'lodestone.yaml'), 'catalogue: [base.yaml]\n');
});
afterEach(() => rmSync(cwd, { recursive: true }));

const base = `providers:
  - { id: acme, base_url: "https://a.example/v1", api_key_env: ACME_KEY }
regions:
  - { locode: defra, country: DE, carbon: 300 }
  - { locode: frpar, country: FR }
models:
  - creator: meta
    model: llama
    routes:
      - { provider: acme, locode: defra, price: { input: 1.17, output: 2, published: { currency: EUR, input: 1 } } }
      - { provider: acme, locode: frpar }
`;
const model = (fields: string) => `models:\n  - creator: meta\n    model: other\n    routes:\n      - { ${fields} }\n`;

async function check(...args: string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const io = { out: (line: string) => void out.push(line), err: (line: string) => void err.push(line) };
  const code = await main(['catalogue', 'check', ...args], { ...io, env: { ACME_KEY: 'k' }, cwd });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

describe('lodestone catalogue check', () => {
  it('counts what the configured files hold, without a server', async () => {
    expect(await check()).toEqual({
      code: 0,
      err: '',
      out: [
        'No faults.',
        '1 providers, 1 of them configured here',
        '2 regions, 1 with carbon',
        '1 models',
        '2 routes: 1 with a price (1 not published in USD), 1 with carbon, 0 with a data policy, 2 configured here',
      ].join('\n'),
    });
  });

  it('finds defaults of a name that no request may have, which stop a start', async () => {
    const names = 'names:\n  gpt:\n    model: acme/meta/llama/defra\n    defaults:\n      temperature: 3\n';
    writeFileSync(join(cwd, 'names.yaml'), names);
    writeFileSync(join(cwd, 'lodestone.yaml'), 'catalogue: [base.yaml]\nnames: [names.yaml]\n');
    const { code, err } = await check();
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/names\.yaml:5:\d+: names\.gpt\.defaults\.temperature: .*3/),
    ]);
  });

  it('prints the counts for programs', async () => {
    expect(JSON.parse((await check('--json')).out)).toEqual({
      ok: true,
      ...{ old: [], notes: [], warnings: [] },
      faults: [],
      providers: 1,
      providers_configured: 1,
      regions: 2,
      regions_with_carbon: 1,
      models: 1,
      routes: 2,
      routes_priced: 1,
      routes_priced_in_another_currency: 1,
      routes_with_carbon: 1,
      routes_with_data_policy: 0,
      routes_configured: 2,
    });
  });

  it('takes a named file as added to the configured ones, so that it may refer to them', async () => {
    writeFileSync(join(cwd, 'more.yaml'), model('provider: acme, locode: frpar'));
    expect(await check('more.yaml')).toMatchObject({ code: 0, out: expect.stringContaining('2 models\n3 routes') });
    expect(await check('base.yaml')).toMatchObject({ code: 0, out: expect.stringContaining('1 models\n2 routes') });
  });

  it('prints every fault with file and line, and fails', async () => {
    writeFileSync(join(cwd, 'bad.yaml'), model('provider: nobody, locode: usnyc, price: { input: cheap, output: 1 }'));
    writeFileSync(join(cwd, 'worse.yaml'), 'providers:\n  - id: auto\n');
    const { code, out, err } = await check('bad.yaml', 'worse.yaml', 'gone.yaml');
    expect([code, out]).toEqual([1, '']);
    const faults = err.split('\n');
    expect(faults.pop()).toBe('6 faults.');
    expect(faults.map((fault) => fault.replace(`${cwd}/`, ''))).toEqual([
      'gone.yaml:1:1: file: cannot be read (ENOENT)',
      expect.stringMatching(/^bad\.yaml:5:\d+: models\[0\]\.routes\[0\]\.price\.input: found cheap/),
      expect.stringMatching(/^bad\.yaml:5:\d+: models\[0\]\.routes\[0\]\.provider: found "nobody"/),
      expect.stringMatching(/^bad\.yaml:5:\d+: models\[0\]\.routes\[0\]\.locode: found "usnyc"/),
      expect.stringMatching(/^worse\.yaml:2:\d+: providers\[0\]\.id: found "auto"/),
      expect.stringMatching(/^worse\.yaml:2:\d+: providers\[0\]\.base_url: found nothing/),
    ]);
  });

  it('prints faults for programs too', async () => {
    writeFileSync(join(cwd, 'bad.yaml'), model('provider: nobody, locode: defra'));
    const { code, out } = await check('bad.yaml', '--json');
    expect([code, JSON.parse(out)]).toEqual([
      1,
      { ok: false, old: [], notes: [], warnings: [], faults: [expect.stringContaining('bad.yaml:5')] },
    ]);
  });

  it('finds no fault in the built-in catalogue', async () => {
    expect((await check('builtin')).code).toBe(0);
  });
});
