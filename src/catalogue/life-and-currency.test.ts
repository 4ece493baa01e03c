/** The life of models and routes, offers without a known end, and prices in other currencies, as files state them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { dialects } from '../providers/dialects/registry.js';
import { readCatalogueSource, readEntries } from './catalogue-file.js';
import { catalogueDigest } from './digest.js';
import { factsOf } from './facts.js';
import { checkDates } from './life-check.js';
import { faultsOf, loadCatalogue } from './load-catalogue.js';
import { ratesFor } from './price.js';
import { withoutRetired } from './retirement.js';
import type { Snapshot } from './route.js';
import { buildSnapshot } from './snapshot.js';

const directory = mkdtempSync(join(tmpdir(), 'lodestone-life-'));
afterAll(() => rmSync(directory, { recursive: true }));

let count = 0;
async function load(...contents: string[]): Promise<{ snapshot: Snapshot; faults: string[] }> {
  const files = contents.map((content) => {
    const path = join(directory, `c${count++}.yaml`);
    writeFileSync(path, content);
    return path;
  });
  const merged = await loadCatalogue(files);
  const snapshot = buildSnapshot(merged, { providerSettings: new Map(), env: {}, dialects, now: 0 });
  return { snapshot, faults: faultsOf(merged) };
}

async function snapshotOf(...contents: string[]): Promise<Snapshot> {
  const { snapshot, faults } = await load(...contents);
  expect(faults).toEqual([]);
  return snapshot;
}

const base = `
providers:
  - { id: acme, base_url: "http://a.example", auth: none }
regions:
  - { locode: defra, country: DE }
  - { locode: frpar, country: FR }
models:
  - { creator: meta, model: next, routes: [{ provider: acme, locode: defra }] }
  - creator: meta
    model: llama
`;
const routes = (...fields: string[]) =>
  `    routes:\n${fields.map((one, index) => `      - { provider: acme, locode: ${['defra', 'frpar'][index]}, ${one} }`).join('\n')}\n`;
const route = (fields: string) => `${base}${routes(fields)}`;
const euro = (usd: string) => `currencies: { EUR: { usd: ${usd}, source: central bank, as_of: 2026-08-21 } }`;
const [defra, frpar] = ['acme/meta/llama/defra', 'acme/meta/llama/frpar'];

describe('the life of a model', () => {
  const life = `    released: 2026-01-05
    deprecated: 2026-09-01
    retires: { date: 2026-10-16, source: their page, replaced_by: meta/next }
`;

  it('is that of its routes, where these do not state their own, field by field', async () => {
    const own = 'released: 2026-02-01, retires: { date: 2026-12-01, source: another page }';
    const snapshot = await snapshotOf(`${base}${life}${routes('carbon: 1', own)}`);
    const retires = {
      ...{ date: '2026-10-16', atMs: Date.parse('2026-10-16T00:00:00Z') },
      ...{ source: 'their page', replacedBy: 'meta/next' },
    };
    expect(snapshot.models.get('meta/llama')?.life).toEqual({
      ...{ released: '2026-01-05', deprecated: '2026-09-01', retires },
    });
    expect(snapshot.routes.get(defra)?.life).toEqual(snapshot.models.get('meta/llama')?.life);
    expect(snapshot.routes.get(frpar)?.life).toEqual({
      ...{ released: '2026-02-01', deprecated: '2026-09-01' },
      retires: {
        ...{ date: '2026-12-01', atMs: Date.parse('2026-12-01T00:00:00Z') },
        ...{ source: 'another page', replacedBy: null },
      },
    });
    expect(snapshot.models.get('meta/next')).not.toHaveProperty('life');
  });

  it('does not hold on a route that says null', async () => {
    const snapshot = await snapshotOf(`${base}${life}${routes('carbon: 1', 'retires: null')}`);
    expect(snapshot.routes.get(frpar)?.life).toEqual({ released: '2026-01-05', deprecated: '2026-09-01' });
  });

  it('is part of the facts, so that a date that moves is a change of the catalogue', async () => {
    const snapshot = await snapshotOf(`${base}${life}${routes('carbon: 1')}`);
    const moved = await snapshotOf(`${base}${life.replace('2026-10-16', '2026-11-16')}${routes('carbon: 1')}`);
    expect(factsOf(snapshot).model['meta/llama']).toMatchObject({
      ...{ released: '2026-01-05', deprecated: '2026-09-01', retires: '2026-10-16', replaced_by: 'meta/next' },
    });
    expect(catalogueDigest(moved)).not.toBe(catalogueDigest(snapshot));
  });
});

describe('a retired route', () => {
  it('leaves the snapshot from 00:00 UTC of its day on, and the digest stays: the day was a fact before it came', async () => {
    const retires = 'retires: { date: 2026-10-16, source: s }';
    const snapshot = await snapshotOf(`${base}${routes(retires, 'carbon: 1')}`);
    const day = Date.parse('2026-10-16T00:00:00Z');
    expect(withoutRetired(snapshot, day - 1)).toBe(snapshot);
    const left = withoutRetired(snapshot, day);
    expect([[...left.routes.keys()], [...left.retired!.keys()]]).toEqual([['acme/meta/next/defra', frpar], [defra]]);
    expect(left.routes.get(frpar)!.model.routes.map(({ id }) => id)).toEqual([frpar]);
    expect(catalogueDigest(left)).toBe(catalogueDigest(snapshot));
    expect(withoutRetired(left, day + 1)).toBe(left);
  });
});

describe('an offer without a known end', () => {
  const priceOf = async (fields: string) => (await snapshotOf(route(`price: { ${fields} }`))).routes.get(defra)!.price!;
  const inputAt = (price: Parameters<typeof ratesFor>[0], day: string) =>
    ratesFor(price, Date.parse(`${day}T12:00:00Z`), null, 1).input;

  it('holds after the last day that is promised, and keeps what is to follow', async () => {
    const price = await priceOf('input: 4, output: 20, until: 2026-11-21, until_changed: true, then: { input: 5 }');
    expect(inputAt(price, '2030-01-01')).toBe(4_000_000n);
    expect(price.offer).toMatchObject({ through: '2026-11-21', listPrice: { input: 5_000_000n, output: 20_000_000n } });
    const ending = await priceOf('input: 4, output: 20, until: 2026-11-21, then: { input: 5 }');
    expect(inputAt(ending, '2030-01-01')).toBe(5_000_000n);
    expect(ending.offer).toBeUndefined();
  });

  it('needs neither a day nor a list price', async () => {
    expect((await priceOf('input: 4, output: 20, until_changed: true')).offer).toEqual({});
    expect((await priceOf('input: 4, output: 20, until: 2026-11-21, until_changed: true')).offer).toEqual({
      through: '2026-11-21',
    });
  });
});

describe('a price in another currency', () => {
  const price = `price: { currency: EUR, input: 0.15, output: 0.6, cached_input: 0.000003, request: 0.01,
          above: { input_tokens: 1000, input: 0.3 }, tiers: { flex: { input: 0.1 } }, tools: { web_search: 0.02 },
          until: 2026-11-21, then: { output: 0.7 } }`;

  it('is in USD exactly the figure times the rate, in every layer, to the nearest pico-dollar', async () => {
    const snapshot = await snapshotOf(route(price), euro('1.17'));
    expect(snapshot.routes.get(defra)!.price).toMatchObject({
      ...{ input: 175_500n, output: 702_000n, request: 11_700_000_000n },
      // 3.51 pico-dollars a token.
      cachedInput: 4n,
      bands: [{ fromTokens: 1001, input: 351_000n, output: 702_000n }],
      tiers: new Map([['flex', expect.objectContaining({ input: 117_000n, output: 702_000n })]]),
      tools: new Map([['web_search', 23_400_000_000n]]),
      later: { price: { input: 175_500n, output: 819_000n, published: { input: '0.15', output: '0.7' } } },
      published: {
        ...{ currency: 'EUR', input: '0.15', output: '0.6', cachedInput: '0.000003' },
        rate: { usd: '1.17', source: 'central bank', asOf: '2026-08-21' },
      },
    });
  });

  it.each([
    ['1.5', '0.000001', 2n],
    ['1.499999', '0.000001', 1n],
    ['0.000001', '0.5', 1n],
    ['0.000001', '0.499999', 0n],
    ['123456.789012', '123456789.123456', 15_241_578_766_913_483_812n],
  ])('at %s USD rounds %s per million tokens to %d pico-dollars a token', async (rate, figure, pico) => {
    const snapshot = await snapshotOf(route(`price: { currency: EUR, input: ${figure}, output: 1 }`), euro(rate));
    expect(snapshot.routes.get(defra)!.price!.input).toBe(pico);
  });

  it('follows the rate of the last file that has one', async () => {
    const snapshot = await snapshotOf(
      euro('1.17'),
      route('price: { currency: EUR, input: 1, output: 1 }'),
      euro('1.2'),
    );
    expect(snapshot.routes.get(defra)!.price).toMatchObject({ input: 1_200_000n, published: { rate: { usd: '1.2' } } });
  });

  it('may be USD, which needs no rate', async () => {
    const snapshot = await snapshotOf(route('price: { currency: USD, input: 1, output: 1 }'));
    expect(snapshot.routes.get(defra)!.price).toEqual({ input: 1_000_000n, output: 1_000_000n, cachedInput: null });
  });

  it('is blamed once where its rate is faulty', async () => {
    const { faults } = await load(route('price: { currency: EUR, input: 1, output: 1 }'), euro('0'));
    expect(faults).toHaveLength(1);
  });
});

describe('faults name file, line and field', () => {
  it.each<readonly [string, string, string]>([
    [
      'release that is no day',
      route('released: 2026-02-30'),
      'released: found "2026-02-30", expected a date of the cal',
    ],
    ['deprecation without a day', route('deprecated: 2026-08'), 'deprecated: found "2026-08", expected a date of the'],
    [
      'retirement that is no day',
      route('retires: { date: 2026-13-01, source: s }'),
      'retires.date: found "2026-13-01", exp',
    ],
    [
      'retirement without a source',
      route('retires: { date: 2026-10-16 }'),
      'retires.source: found nothing, expected a text',
    ],
    [
      'retirement before the release',
      route('released: 2026-10-17, retires: { date: 2026-10-16, source: s }'),
      'retires.date: found 2026-10-16, expected a day that is not before `released` (2026-10-17)',
    ],
    [
      'two successors',
      route('retires: { date: 2026-10-16, source: s, replaced_by: [meta/a, meta/b] }'),
      'retires.replaced_by: found a list, expected one model as creator/model',
    ],
    [
      'two successors in a text',
      route('retires: { date: 2026-10-16, source: s, replaced_by: "meta/a or meta/b" }'),
      'retires.replaced_by: found "meta/a or meta/b", expected one model',
    ],
    [
      'successor that does not exist',
      route('retires: { date: 2026-10-16, source: s, replaced_by: meta/gone }'),
      'retires.replaced_by: found "meta/gone", expected another model that the catalogue has',
    ],
    [
      'successor of itself',
      route('retires: { date: 2026-10-16, source: s, replaced_by: meta/llama }'),
      'retires.replaced_by: found "meta/llama", expected another model',
    ],
    ...['0', '-1.17', '0.0000001', 'much', '[1]', 'null', '1e3'].map(
      (usd) =>
        [
          `rate ${usd}`,
          `currencies: { EUR: { usd: ${usd}, source: s, as_of: 2026-08 } }`,
          'currencies.EUR.usd: found ',
        ] as const,
    ),
    [
      'no rate',
      'currencies: { EUR: { source: s, as_of: 2026-08 } }',
      'currencies.EUR.usd: found nothing, expected the USD that one EUR costs',
    ],
    [
      'rate without a date',
      'currencies: { EUR: { usd: 1.17, source: s } }',
      'currencies.EUR.as_of: found nothing, expected a date',
    ],
    [
      'rate of USD',
      'currencies: { USD: { usd: 1, source: s, as_of: 2026-08 } }',
      'currencies.USD: found "USD", expected an ISO 4217 code such as EUR, other than USD',
    ],
    ['rates as a list', 'currencies: [EUR]', 'currencies: found a list, expected a mapping'],
    [
      'currency without a rate',
      route('price: { currency: CHF, input: 1, output: 1 }'),
      'price.currency: found CHF, expected a currency with a rate in `currencies` of a catalogue file (USD)',
    ],
    [
      'offer that may end',
      route('price: { input: 1, output: 1, until_changed: maybe }'),
      'price.until_changed: found "maybe", expected true or false',
    ],
    [
      'currency beside `published`',
      `currencies: { EUR: { usd: 1.17, source: s, as_of: 2026 } }${route('price: { currency: EUR, input: 1, output: 1, published: { currency: EUR } }')}`,
      'price.published: found it beside `currency`, expected one',
    ],
  ])('%s', async (_, content, expected) => {
    const { faults } = await load(content);
    expect(faults.join('\n')).toContain(expected);
    for (const fault of faults) expect(fault).toMatch(/c\d+\.yaml:\d+:\d+: [^ ]+: found /);
  });
});

describe('the check of dates', () => {
  it('refuses a built-in route from the day of its retirement on, and notes it for 60 days before', async () => {
    const yaml = route('retires: { date: 2026-10-16, source: s, replaced_by: meta/next }');
    const checked = (kind: 'maintained' | 'own', now: string) => {
      const source = readCatalogueSource('file.yaml', yaml);
      const maintained = new Set(kind === 'maintained' ? [source] : []);
      const none = { providers: new Map(), regions: new Map(), currencies: new Map(), unreadable: [], refused: [] };
      const models = new Map(readEntries(source).models);
      const merged = { ...none, models, sources: [source], maintained, faulty: new Set<string>() };
      const notes = checkDates(merged, Date.parse(now));
      return [source.faults.length, notes.map(({ what }) => what)];
    };
    const soon = [0, [`${defra} retires on 2026-10-16; meta/next replaces it`]];
    expect(checked('maintained', '2026-08-16T23:59:59Z')).toEqual([0, []]);
    expect(checked('maintained', '2026-08-17T00:00:00Z')).toEqual(soon);
    expect(checked('maintained', '2026-10-15T23:59:59Z')).toEqual(soon);
    expect(checked('maintained', '2026-10-16T00:00:00Z')).toEqual([1, []]);
    const gone = `${defra} is retired since 2026-10-16, and is not served; meta/next replaces it`;
    expect(checked('own', '2026-10-16T00:00:00Z')).toEqual([0, [gone]]);
  });
});
