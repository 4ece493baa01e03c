import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { main } from './cli.js';

const catalogue = `providers:
  - { id: together, base_url: "https://a.example/v1", api_key_env: ACME_KEY }
  - { id: bedrock, base_url: "https://b.example", dialect: bedrock }
regions:
  - { locode: defra, country: DE }
models:
  - creator: meta
    model: llama
    routes:
      - { provider: together, locode: global, upstream_model: Meta/Llama,
          price: { input: 1, output: 2, source: page, as_of: 2026-08-01 } }
      - { provider: bedrock, locode: defra, upstream_model: meta.llama, price: { input: 9, output: 9 } }
  - { creator: meta, model: other, routes: [{ provider: together, locode: global, price: { input: 3, output: 4 } }] }
`;
const litellm = (input: number) => ({
  sample_spec: { litellm_provider: 'one of', mode: 'chat' },
  'together_ai/Meta/Llama': {
    litellm_provider: 'together_ai',
    input_cost_per_token: input / 1e6,
    output_cost_per_token: 2e-6,
  },
  'bedrock/meta.llama': { litellm_provider: 'bedrock', input_cost_per_token: 1e-6, output_cost_per_token: 1e-6 },
});
const modelsDev = (input: number) => ({
  togetherai: {
    id: 'togetherai',
    models: { 'meta/llama': { cost: { input, output: 2.01 } }, free: { cost: { input: 0, output: 0 } } },
  },
});
const genai = (input: number) => [
  {
    id: 'together',
    models: [
      { id: 'meta/llama', prices: { input_mtok: input, output_mtok: 2 } },
      { id: 'x', prices: [{}] },
    ],
  },
];

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'lodestone-compare-'));
  writeFileSync(join(cwd, 'base.yaml'), catalogue);
  writeFileSync(join(cwd, 'lodestone.yaml'), 'catalogue: [base.yaml]\n');
});
afterEach(() => rmSync(cwd, { recursive: true }));

function write(name: string, value: unknown): string {
  writeFileSync(join(cwd, name), typeof value === 'string' ? value : JSON.stringify(value));
  return name;
}

async function compare(...args: string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const io = { out: (line: string) => void out.push(line), err: (line: string) => void err.push(line) };
  const code = await main(['catalogue', 'compare', ...args], { ...io, env: {}, cwd });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

describe('lodestone catalogue compare', () => {
  it('finds a price in each kind of list, whatever the list calls provider and model', async () => {
    for (const list of [litellm(1), modelsDev(1), genai(1)]) {
      expect(await compare('--with', write('list.json', list))).toEqual({
        code: 0,
        err: '',
        out: '3 routes with a price: 1 equal to 2 % in every list that has them, 0 differ, 2 are in none.',
      });
    }
  });

  it('prints what differs with the date of the catalogue, and who is in the majority', async () => {
    const files = [write('l.json', litellm(1)), write('m.json', modelsDev(1.5)), write('g.json', genai(1.5))] as const;
    const { out } = await compare('--with', ...files);
    expect(out).toMatch(
      /together\/meta\/llama\/global +1 \/ 2 +2026-08-01 +models\.dev 1\.5 \/ 2\.01, genai-prices 1\.5 \/ 2 +theirs\n/,
    );
    expect((await compare('--with', files[0], files[1])).out).toMatch(/ even\n/);
    const { out: json } = await compare('--with', ...files, '--json');
    expect(JSON.parse(json)).toMatchObject({
      ...{ routes: 3, equal: 0, differs: 1, unlisted: 2 },
      differing: [{ agree: ['litellm'], differ: ['models.dev', 'genai-prices'] }],
    });
  });

  it('compares no route in a place of a provider that has many, because lists do not name the place', async () => {
    const { out } = await compare('--with', write('l.json', litellm(1)), '--json');
    expect(JSON.parse(out)).toMatchObject({ differs: 0, unlisted: 2 });
  });

  it.each([
    ['a file that is not there', 'none.json', 'cannot be read (ENOENT)'],
    ['text that is no JSON', 'text.json', 'is no list of prices'],
    ['JSON that is no list of prices', 'other.json', 'is no list of prices'],
  ])('says so of %s', async (_, name, message) => {
    write('text.json', 'hello');
    write('other.json', { a: 1, b: [2] });
    expect(await compare('--with', name)).toMatchObject({ code: 1, err: expect.stringContaining(message) });
  });

  it('asks for a list', async () => {
    expect(await compare()).toMatchObject({ code: 2, err: expect.stringContaining('--with') });
  });
});
