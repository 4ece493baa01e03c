import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../base/logger.js';
import { dialects } from '../providers/dialects/registry.js';
import { CatalogueHolder } from './catalogue-holder.js';
import { changesBetween } from './changes.js';
import { canonicalCatalogue, catalogueDigest } from './digest.js';
import { type Facts, factsOf } from './facts.js';
import type { Snapshot } from './route.js';

const folder = mkdtempSync(join(tmpdir(), 'lodestone-changes-'));
afterAll(() => rmSync(folder, { recursive: true }));

type Fields = Record<string, unknown>;

type Edits = Partial<Record<'provider' | 'region' | 'model' | 'route' | 'price', Fields>> & { more?: Fields[] };

/** A catalogue of one provider, two regions and two models, in which one entry may differ. */
function catalogue({ provider, region, model, route, price, more = [] }: Edits) {
  const base = {
    provider: 'acme',
    locode: 'defra',
    price: { input: 1, output: 2, source: 'list', as_of: '2026-08-21' },
  };
  const priced = { ...base.price, ...price };
  return {
    providers: [
      { id: 'acme', base_url: 'https://a.example/v1', headquarters: 'DE', cloud_act: false, ...provider },
      { id: 'zeta', base_url: 'https://z.example/v1' },
    ],
    regions: [
      { locode: 'defra', country: 'DE', carbon: 300, source: 'grid', as_of: '2024', ...region },
      { locode: 'frpar', country: 'FR', carbon: 40 },
    ],
    models: [
      {
        creator: 'meta',
        model: 'llama',
        context_window: 1000,
        ...model,
        routes: [{ ...base, price: priced, ...route }],
      },
      ...more,
    ],
  };
}

async function snapshotOf(content: object, env: Record<string, string> = {}): Promise<Snapshot> {
  const file = join(folder, 'catalogue.yaml');
  writeFileSync(file, JSON.stringify(content));
  const clock = { now: () => Math.random() } as never;
  const holder = new CatalogueHolder({
    ...{ files: [file], providerSettings: {}, env, dialects, clock, logger: silentLogger },
  });
  await holder.load();
  return holder.current!;
}

async function changes(before: object, after: object) {
  const old = JSON.parse(canonicalCatalogue(await snapshotOf(before)).text) as Facts;
  const now = await snapshotOf(after);
  return changesBetween(old, factsOf(now), now).map(({ kind, id, field, from, to, source, asOf }) => [
    ...[kind, id, field, from, to, source, asOf],
  ]);
}

const llama = 'acme/meta/llama/defra';
const other = { creator: 'meta', model: 'other', routes: [{ provider: 'zeta', locode: 'frpar' }] };

describe('the digest of a catalogue', () => {
  it('stays where nothing changed: another file order, another load, another environment, another source', async () => {
    const digest = catalogueDigest(await snapshotOf(catalogue({})));
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    const reordered = Object.fromEntries(Object.entries(catalogue({})).reverse());
    expect(catalogueDigest(await snapshotOf(reordered))).toBe(digest);
    expect(catalogueDigest(await snapshotOf(catalogue({}), { HOME: '/elsewhere' }))).toBe(digest);
    const confirmed = catalogue({ price: { source: 'another list', as_of: '2026-11-01' } });
    expect(catalogueDigest(await snapshotOf(confirmed))).toBe(digest);
    const moved = catalogue({ provider: { base_url: 'https://b.example/v1', api_key_env: 'B_KEY' } });
    expect(catalogueDigest(await snapshotOf(moved))).toBe(digest);
  });

  it('is of canonical JSON: the keys in order, no blank, no null', async () => {
    const { text } = canonicalCatalogue(await snapshotOf(catalogue({})));
    expect(text).toMatch(/^\{"carbon":\{"acme\/meta\/llama\/defra":\{"carbon":300\},"defra"/);
    expect(text).not.toMatch(/null|": /);
  });

  it.each<[string, Edits]>([
    ['price', { price: { input: 1.5 } }],
    ['region', { region: { country: 'AT' } }],
    ['carbon', { region: { carbon: 299 } }],
    ['jurisdiction', { provider: { cloud_act: true } }],
    ['terms', { provider: { data_policy: { trains: true } } }],
    ['route', { route: { capabilities: ['tools'] } }],
    ['model', { model: { context_window: 2000 } }],
  ])('changes with every fact that is a change: %s', async (kind, fields) => {
    expect(catalogueDigest(await snapshotOf(catalogue(fields)))).not.toBe(
      catalogueDigest(await snapshotOf(catalogue({}))),
    );
    const kinds = (await changes(catalogue({}), catalogue(fields))).map(([found]) => found);
    expect(kinds).toEqual([kind]);
  });
});

describe('the changes between two catalogues', () => {
  it('are none where nothing changed', async () => {
    expect(await changes(catalogue({ more: [other] }), catalogue({ more: [other] }))).toEqual([]);
  });

  it('are one where a provider came or went, with all that is said of it', async () => {
    const { providers, ...rest } = catalogue({});
    const added = { id: 'anth', name: 'Anth', base_url: 'https://n.example/v1', headquarters: 'US', cloud_act: true };
    const data_policy = { trains: false, source: 'terms', as_of: '2026' };
    const more = { ...rest, providers: [...providers, { ...added, data_policy, source: 'site', as_of: '2026-11' }] };
    expect(await changes(catalogue({}), more)).toEqual([
      ['jurisdiction', 'anth', 'id', null, 'anth', 'site', '2026-11'],
    ]);
    expect((await changes(more, catalogue({}))).map((row) => row.slice(0, 5))).toEqual([
      ['jurisdiction', 'anth', 'id', 'anth', null],
    ]);
  });

  it('name the price, exactly, with the source and date of the file', async () => {
    const price = { input: '0.100001', output: 2, cached_input: 0.05, source: 'new list', as_of: '2026-11-01' };
    expect(await changes(catalogue({}), catalogue({ price }))).toEqual([
      ['price', llama, 'cached_input', null, '0.05', 'new list', '2026-11-01'],
      ['price', llama, 'input', '1', '0.100001', 'new list', '2026-11-01'],
    ]);
  });

  it('do not repeat a price in the tiers, bands and dates that follow it', async () => {
    const layers = {
      tiers: { fast: { input: 5 } },
      above: { input_tokens: 200, input: 3 },
      tools: { web_search: 0.01 },
    };
    const before = catalogue({ price: layers });
    const after = catalogue({ price: { ...layers, output: 4, tiers: { fast: { input: 6 } } } });
    expect((await changes(before, after)).map((row) => row.slice(2, 5))).toEqual([
      ['output', '2', '4'],
      ['tiers.fast.input', '5', '6'],
    ]);
    const later = catalogue({
      price: { ...layers, until: '2026-11-21', ...Object.fromEntries([['then', { input: 9 }]]) },
    });
    expect((await changes(before, later)).map((row) => row.slice(2, 5))).toContainEqual([
      ...['from.2026-11-22.input', null, '9'],
    ]);
  });

  it('name a region, its carbon, a jurisdiction and terms once, where the catalogue states them', async () => {
    const before = catalogue({ provider: { data_policy: { zdr: 'no', source: 'terms', as_of: '2026' } } });
    const after = catalogue({
      provider: {
        ...{ headquarters: 'US', cloud_act: true, excluded_territories: ['CU', 'AF'] },
        data_policy: { zdr: 'default', source: 'terms', as_of: '2026-11' },
      },
      region: { country: 'AT', carbon: 250.5 },
      model: { excluded_territories: ['RU'] },
    });
    expect(await changes(before, after)).toEqual([
      ['region', 'defra', 'country', 'DE', 'AT', 'grid', '2024'],
      ['carbon', 'defra', 'carbon', 300, 250.5, 'grid', '2024'],
      ['jurisdiction', 'acme', 'cloud_act', false, true, null, null],
      ['jurisdiction', 'acme', 'headquarters', 'DE', 'US', null, null],
      ['terms', 'acme', 'data_policy.zdr', 'no', 'default', 'terms', '2026-11'],
      ['terms', 'acme', 'excluded_territories', null, ['AF', 'CU'], null, null],
      ['terms', 'meta/llama', 'excluded_territories', null, ['RU'], null, null],
    ]);
  });

  it("name a route's own carbon, which its region does not change", async () => {
    const [before, after] = [catalogue({ route: { carbon: 10 } }), catalogue({ route: { carbon: 12 } })];
    expect(await changes(before, after)).toEqual([['carbon', llama, 'carbon', 10, 12, null, null]]);
    const unknown = catalogue({ route: { carbon: null } });
    expect(await changes(before, unknown)).toEqual([['carbon', llama, 'carbon', 10, null, null, null]]);
  });

  it('name a model and a route that came or went, and not every figure of theirs', async () => {
    const id = 'zeta/meta/other/frpar';
    expect((await changes(catalogue({}), catalogue({ more: [other] }))).map((row) => row.slice(0, 5))).toEqual([
      ['route', id, 'id', null, id],
      ['model', 'meta/other', 'id', null, 'meta/other'],
    ]);
    expect((await changes(catalogue({ more: [other] }), catalogue({}))).map((row) => row.slice(0, 5))).toEqual([
      ['route', id, 'id', id, null],
      ['model', 'meta/other', 'id', 'meta/other', null],
    ]);
  });

  it('name the move of a route to another region', async () => {
    const moved = 'acme/meta/llama/frpar';
    expect(
      (await changes(catalogue({}), catalogue({ route: { locode: 'frpar' } }))).map((row) => row.slice(0, 5)),
    ).toEqual([
      ['route', llama, 'id', llama, null],
      ['route', moved, 'id', null, moved],
      ['region', moved, 'locode', 'defra', 'frpar'],
    ]);
  });

  it('name the price that a route has lost', async () => {
    const found = await changes(catalogue({}), catalogue({ route: { price: null } }));
    expect(found.map((row) => row.slice(0, 5))).toEqual([
      ['price', llama, 'input', '1', null],
      ['price', llama, 'output', '2', null],
    ]);
  });
});
