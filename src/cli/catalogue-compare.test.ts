import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
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
/** A catalogue with one route of together, whose price is given. */
const oneRoute = (price: string, fields = '') => `providers:
  - { id: together, base_url: "https://a.example/v1", api_key_env: ACME_KEY }
currencies: { EUR: { usd: 1.2, source: bank, as_of: 2026-08-01 } }
models:
  - { creator: meta, model: llama, ${fields}
      routes: [{ provider: together, locode: global, upstream_model: Meta/Llama, price: { ${price} } }] }
`;
const page = 'source: "the page of Together", as_of: 2026-08-08';
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
      const { code, err, out } = await compare('--with', write('list.json', list));
      expect([code, err]).toEqual([0, '']);
      expect(out).toContain('3 routes with a price: 1 equal to 2 %, 0 better sourced, 0 differ, 2 are in no list.');
      expect(out).toContain('Their figures: 2 equal to 2 %, 0 better sourced, 0 differ.');
    }
  });

  it('names each figure that differs, with dates, votes and source, and takes several lists in both ways', async () => {
    const files = [write('l.json', litellm(1)), write('m.json', modelsDev(1.5)), write('g.json', genai(1.5))] as const;
    const dated = files.map((file) => `${file}@2026-07-30`);
    const { out } = await compare('--with', ...dated);
    expect(out).toMatch(
      /together\/meta\/llama\/global +input +1 +2026-08-01 +litellm 1, models\.dev 1\.5, genai-prices 1\.5 +1 of 3 lists with ours, 2 with another; ours is of 2026-08-01, theirs of 2026-07-30; /,
    );
    const { out: json } = await compare(...dated.flatMap((file) => ['--with', file]), '--json');
    expect(JSON.parse(json)).toMatchObject({
      ...{ routes: 3, unlisted: 2, missing: 0, by_route: { equal: 0, better_sourced: 0, differs: 1 } },
      figures: { equal: 1, better_sourced: 0, differs: 1 },
      unequal: [{ figure: 'input', verdict: 'differs', ours: 1, as_of: '2026-08-01', theirs: { length: 3 } }],
    });
  });

  it('takes the day of a file where the command line names none', async () => {
    const file = write('l.json', litellm(5));
    utimesSync(join(cwd, file), 1e9, Date.parse('2026-05-04T12:00:00Z') / 1000);
    expect((await compare('--with', file)).out).toContain('theirs of 2026-05-04');
  });

  /** The verdicts on input, or on the figure that is named, beside LiteLLM's and genai-prices' lists. */
  const verdicts = async (price: string, lists: readonly object[], figure = 'input', fields = '') => {
    writeFileSync(join(cwd, 'base.yaml'), oneRoute(price, fields));
    const files = lists.map((list, index) => `${write(`${index}.json`, list)}@2026-08-08`);
    const answer = JSON.parse((await compare('--with', ...files, '--json')).out);
    return answer.unequal.find((each: { figure: string }) => each.figure === figure)?.verdict ?? 'equal';
  };

  it.each([
    ['a page as new as the list wins over one list', `input: 1, output: 2, ${page}`, [litellm(3)], 'better sourced'],
    ['a majority of lists wins over a page', `input: 1, output: 2, ${page}`, [litellm(3), genai(3)], 'differs'],
    ['lists that do not agree are none', `input: 1, output: 2, ${page}`, [litellm(3), genai(4)], 'better sourced'],
    ['nor are those of which one has ours', `input: 1, output: 2, ${page}`, [litellm(3), genai(1)], 'better sourced'],
    [
      'an older page does not',
      'input: 1, output: 2, source: "page of Together", as_of: 2026-08-07',
      [litellm(3)],
      'differs',
    ],
    ['nor does another list', 'input: 1, output: 2, source: "models.dev", as_of: 2026-09-01', [litellm(3)], 'differs'],
    [
      'nor a page about something else',
      'input: 1, output: 2, source: "models.dev, page of Together (limits)", as_of: 2026-09-01',
      [litellm(3)],
      'differs',
    ],
    ['nor a price without a source', 'input: 1, output: 2', [litellm(3)], 'differs'],
    ['2 % are equal', `input: 1, output: 2, ${page}`, [litellm(1.019)], 'equal'],
    ['more are not', 'input: 1, output: 2', [litellm(1.03)], 'differs'],
  ])('%s', async (_, price, lists, verdict) => {
    expect(await verdicts(price, lists)).toBe(verdict);
  });

  it.each([
    ['input and output the wrong way round', 'input: 2, output: 7', 7, 'better sourced'],
    ['a decimal point in another place', 'input: 0.5, output: 2', 5, 'better sourced'],
    ['a currency that is not converted', 'currency: EUR, input: 5, output: 2', 5, 'better sourced'],
    ['another rate of the currency', 'currency: EUR, input: 4.55, output: 1.8182', 5, 'better sourced'],
    ['a rate that nobody has', 'currency: EUR, input: 2.5, output: 1', 5, 'differs'],
    ['another price in that currency', 'currency: EUR, input: 3, output: 2', 5, 'differs'],
  ])('a list is believed unless it has %s', async (_, price, input, verdict) => {
    expect(await verdicts(price, [litellm(input)])).toBe(verdict);
  });

  it('compares classes, bands and tiers, and a class without a price of its own with what its tokens cost', async () => {
    const more = (figures: object) => {
      const list = litellm(1);
      Object.assign(list['together_ai/Meta/Llama'], figures);
      return [list];
    };
    const price = 'input: 1, output: 2, above: { input_tokens: 200000, input: 2 }, tiers: { flex: { input: 0.5 } }';
    const cases: [object, string, string][] = [
      [{ cache_read_input_token_cost: 0.1e-6 }, 'cached_input', 'differs'],
      [{ cache_read_input_token_cost: 1e-6 }, 'cached_input', 'equal'],
      [{ input_cost_per_token_above_200k_tokens: 3e-6 }, 'above 200k input', 'differs'],
      [{ input_cost_per_token_above_200k_tokens: 2e-6 }, 'above 200k input', 'equal'],
      [{ input_cost_per_token_flex: 0.6e-6 }, 'flex input', 'differs'],
      [{ input_cost_per_token_flex: 0.5e-6 }, 'flex input', 'equal'],
    ];
    for (const [figures, name, verdict] of cases) expect(await verdicts(price, more(figures), name)).toBe(verdict);
  });

  it('does not ask an embedding model for a price of output', async () => {
    const price = 'input: 1, source: a, as_of: 2026-08-01';
    expect(await verdicts(price, [litellm(1)], 'output', 'kind: embedding,')).toBe('equal');
  });

  it('takes the price of genai-prices that has begun, and no name that only begins alike', async () => {
    const dated = (model: string, match: object) => [
      {
        id: 'together',
        models: [
          {
            ...{ id: model, match },
            prices: [
              { prices: { input_mtok: 7, output_mtok: 2 } },
              {
                constraint: { start_date: '2026-01-01' },
                prices: { input_mtok: { base: 1, tiers: [] }, output_mtok: 2 },
              },
              { constraint: { start_date: '2999-01-01' }, prices: { input_mtok: 9, output_mtok: 2 } },
            ],
          },
        ],
      },
    ];
    const equal = { by_route: { equal: 1, differs: 0 } };
    const json = async (list: object) => JSON.parse((await compare('--with', write('g.json', list), '--json')).out);
    expect(await json(dated('x', { or: [{ starts_with: 'Meta/Llama' }] }))).toMatchObject(equal);
    expect(await json(dated('x', { starts_with: 'meta/lla' }))).toMatchObject({ unlisted: 3, missing: 1 });
  });

  it('counts models that have no route, by provider, and names those of one; other kinds and ended ones are none', async () => {
    const entry = { litellm_provider: 'together_ai', mode: 'chat', input_cost_per_token: 1e-6 };
    const list = {
      ...litellm(1),
      'together_ai/New-1': entry,
      'together_ai/new-1-2026-08-01': entry,
      'together_ai/picture': { ...entry, mode: 'image_generation' },
      'together_ai/old': { ...entry, deprecation_date: '2020-01-01' },
      'acme/none': { ...entry, litellm_provider: 'acme' },
    };
    const file = write('l.json', list);
    const { out } = await compare('--with', file);
    expect(out).toContain('Without a route here:\ntogether 1; --provider names them.');
    expect(out).toMatch(/1 missing\.$/);
    expect((await compare('--with', file, '--provider', 'together')).out).toMatch(/MODEL +LISTS\nNew-1 +litellm\n/);
    expect((await compare('--with', file, '--provider', 'bedrock')).out).toContain('1 routes with a price');
  });

  it('compares a route in a place of a provider that has many only where the list names the place', async () => {
    const { out } = await compare('--with', write('l.json', litellm(1)), '--json');
    expect(JSON.parse(out)).toMatchObject({ by_route: { differs: 0 }, unlisted: 2 });
    writeFileSync(
      join(cwd, 'base.yaml'),
      catalogue.replace('upstream_model: meta.llama', 'upstream_model: eu.meta.llama, processing: eu'),
    );
    const price = {
      litellm_provider: 'bedrock',
      mode: 'chat',
      input_cost_per_token: 1e-6,
      output_cost_per_token: 1e-6,
    };
    const named = write('l.json', { 'eu.meta.llama': price, 'meta.llama': price });
    expect(JSON.parse((await compare('--with', named, '--json')).out)).toMatchObject({
      by_route: { differs: 1 },
      missing: 0,
    });
  });

  it.each([
    ['a file that is not there', 'none.json', 'none.json. Check its path.'],
    ['text that is no JSON', 'text.json', 'is no list of prices'],
    ['JSON that is no list of prices', 'other.json', 'is no list of prices'],
  ])('says so of %s', async (_, name, message) => {
    write('text.json', 'hello');
    write('other.json', { a: 1, b: [2] });
    expect(await compare('--with', name)).toMatchObject({ code: 1, err: expect.stringContaining(message) });
  });

  it.each([
    ['no list', [], '--with'],
    ['one list twice', ['--with', 'l.json', 'l.json'], 'each must be given once'],
    ['a day that is none', ['--with', 'l.json@2026-02-31'], 'must be a date of the calendar'],
    ['a provider that is not there', ['--with', 'l.json', '--provider', 'none'], 'must be a provider'],
  ])('refuses %s', async (_, args, message) => {
    write('l.json', litellm(1));
    expect(await compare(...args)).toMatchObject({ code: 2, err: expect.stringContaining(message) });
  });
});
