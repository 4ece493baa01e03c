import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { main } from './cli.js';

const catalogue = `providers:
  - { id: together, base_url: "https://a.example/v1", api_key_env: ACME_KEY }
  - { id: scaleway, base_url: "https://s.example/v1", api_key_env: SCW_KEY }
  - { id: bedrock, base_url: "https://b.example", dialect: bedrock }
regions: [{ locode: frpar, country: FR, source: a, as_of: 2026-08-01 }]
models:
  - creator: meta-llama
    model: llama-3
    routes:
      - { provider: together, locode: global, upstream_model: meta/Llama-3, price: { input: 1, output: 2, source: a, as_of: 2026-08-01 } }
  - creator: mistralai
    model: small
    routes: [{ provider: scaleway, locode: frpar, price: { input: 1, output: 2, source: a, as_of: 2026-08-01 } }]
`;
const perToken = (input: number, output: number) => ({
  input_cost_per_token: input / 1e6,
  output_cost_per_token: output / 1e6,
});
const litellm = {
  'together_ai/meta/Llama-3': { litellm_provider: 'together_ai', mode: 'chat', ...perToken(7, 7) },
  'scaleway/llama-3': { litellm_provider: 'scaleway', mode: 'chat', ...perToken(0.15, 0.6) },
  'together_ai/Qwen/Qwen9-1B': {
    ...{ litellm_provider: 'together_ai', mode: 'chat', ...perToken(0.3, 0.4) },
    ...{ cache_read_input_token_cost: 1e-8, input_cost_per_token_above_200k_tokens: 6e-7 },
    ...{ input_cost_per_token_flex: 1.5e-7, max_input_tokens: 1000, max_output_tokens: 100 },
    ...{ supports_function_calling: true, supports_vision: true },
  },
  'together_ai/acme/embed-1': { litellm_provider: 'together_ai', mode: 'embedding', input_cost_per_token: 2e-8 },
  'scaleway/gpt-9-pro': { litellm_provider: 'scaleway', mode: 'responses', ...perToken(30, 180) },
  'writer.palmyra-v1:0': { litellm_provider: 'bedrock', mode: 'chat', ...perToken(1, 1) },
};
const modelsDev = { togetherai: { models: { 'Qwen/Qwen9-1B': { name: 'Qwen: 9', cost: { input: 0.5, output: 1 } } } } };

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'lodestone-import-'));
  writeFileSync(join(cwd, 'base.yaml'), catalogue);
  writeFileSync(join(cwd, 'lodestone.yaml'), 'catalogue: [base.yaml]\n');
  writeFileSync(join(cwd, 'l.json'), JSON.stringify(litellm));
  writeFileSync(join(cwd, 'm.json'), JSON.stringify(modelsDev));
});
afterEach(() => rmSync(cwd, { recursive: true }));

async function run(...args: string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const io = { out: (line: string) => void out.push(line), err: (line: string) => void err.push(line) };
  const code = await main(['catalogue', ...args], { ...io, env: {}, cwd });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

const importAll = (...args: string[]) =>
  run('import-models', '--with', 'l.json@2026-08-08', 'm.json@2026-07-02', ...args);

describe('lodestone catalogue import-models', () => {
  it('drafts what is missing: a new model as an entry, and a route of a known model as a route', async () => {
    const { code, out, err } = await importAll();
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain(`  - creator: qwen
    model: qwen9-1b
    name: "Qwen: 9"
    context_window: 1000
    max_output_tokens: 100
    source: litellm
    as_of: 2026-08-08
    draft: true
    routes:
      # models.dev (2026-07-02) has input 0.5, output 1
      - { provider: together, locode: global, upstream_model: Qwen/Qwen9-1B, price: { input: 0.3, `);
    expect(out).toMatch(
      /cached_input: 0\.01, above: \{ input_tokens: 200000, input: 0\.6 \}, tiers: \{ flex: \{ input: 0\.15 \} \}/,
    );
    expect(out).toMatch(/source: litellm, as_of: 2026-08-08 \}, capabilities: \[ tools, vision \], draft: true \}/);
    expect(out).toMatch(/creator: acme\n {4}model: embed-1\n {4}kind: embedding\n/);
    expect(out).toMatch(/creator: writer\n {4}model: palmyra-v1:0\n/);
    expect(out).toMatch(/upstream_model: gpt-9-pro, .* apis: \[ responses \], responses_only: true, draft: true/);
    // In the provider's only place, and with the list's own name for the model.
    expect(out).toContain(
      'routes:\n  - { model: meta-llama/llama-3, provider: scaleway, locode: frpar, upstream_model: llama-3, price: { input: 0.15, output: 0.6, ',
    );
  });

  it('writes a file that the check accepts, and that the strict check refuses entry by entry', async () => {
    const { out } = await importAll('--out', 'draft.yaml');
    expect(out).toContain('Wrote 5 routes as drafts, with 4 new models, to ');
    const { code, out: checked } = await run('check', 'draft.yaml', '--json');
    expect([code, JSON.parse(checked)]).toMatchObject([0, { faults: [], models: 6, routes: 7, routes_priced: 7 }]);
    const strict = await run('check', 'draft.yaml', '--strict');
    expect(strict.code).toBe(1);
    const drafts = strict.err.split('\n').filter((line) => line.includes('found a draft of '));
    expect(drafts).toHaveLength(9);
    expect(drafts.join('\n')).toMatch(
      /draft\.yaml:\d+:\d+: models\[0\]\.draft: found a draft of qwen\/qwen9-1b, expected /,
    );
    expect(strict.err).toContain('found a draft of scaleway/meta-llama/llama-3/frpar');
    const verified = readFileSync(join(cwd, 'draft.yaml'), 'utf8').replace(/,? *draft: true/g, '');
    writeFileSync(join(cwd, 'verified.yaml'), verified);
    expect(await run('check', 'verified.yaml', '--strict')).toMatchObject({ code: 0, err: '' });
  });

  it('drafts no entry that the catalogue has, and leaves its routes as they are', async () => {
    expect((await importAll()).out).not.toMatch(/provider: together, .*Llama-3/);
    await importAll('--out', 'draft.yaml');
    writeFileSync(join(cwd, 'lodestone.yaml'), 'catalogue: [base.yaml, draft.yaml]\n');
    // LiteLLM has 7 for this route, and the catalogue keeps its 1.
    const { out } = await run('compare', '--with', 'l.json@2026-08-08', '--json');
    expect(JSON.parse(out)).toMatchObject({ missing: 0, unequal: [{ ours: 1 }, { ours: 2 }] });
    expect(await importAll()).toMatchObject({ out: expect.not.stringContaining('provider:') });
  });

  it('does not write over a file', async () => {
    writeFileSync(join(cwd, 'draft.yaml'), 'mine');
    expect(await importAll('--out', 'draft.yaml')).toMatchObject({
      code: 1,
      err: expect.stringContaining('it is there already; name a new file'),
    });
    expect(readFileSync(join(cwd, 'draft.yaml'), 'utf8')).toBe('mine');
  });

  it('drafts for one provider', async () => {
    const { out } = await importAll('--provider', 'bedrock', '--json');
    expect(JSON.parse(out)).toMatchObject({ models: 1, routes: 1, text: expect.not.stringContaining('together') });
  });
});
