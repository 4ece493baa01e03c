import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import type { YamlObject } from '../../support/gateway-files.js';

const url = 'http://127.0.0.1:9';
const stated = { source: 'price list "A" & B', as_of: '2026-11-01' };
const llama = 'acme/meta/llama/defra';

interface Edits {
  provider?: YamlObject;
  region?: YamlObject;
  price?: YamlObject;
  models?: YamlObject[];
}

function catalogue({ provider, region, price, models = [] }: Edits = {}): YamlObject {
  return {
    providers: [{ id: 'acme', base_url: url, auth: 'none', headquarters: 'DE', cloud_act: false, ...provider }],
    regions: [{ locode: 'defra', country: 'DE', carbon: 300, ...region }],
    models: [
      {
        ...{ creator: 'meta', model: 'llama' },
        routes: [{ provider: 'acme', locode: 'defra', price: { input: 0.6, output: 0.8, ...stated, ...price } }],
      },
      ...models,
    ],
  };
}
const extra = {
  ...{ creator: 'meta', model: 'extra' },
  routes: [{ provider: 'acme', locode: 'global', price: { input: 1, output: 1 } }],
};

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ catalogue: catalogue() });
});
afterAll(() => gateway?.stop());

const read = (query = '') => gateway.call('GET', `/v1/catalogue/changes${query}`, undefined, { key: null });
const listed = async (query = ''): Promise<Json[]> => (await read(query)).json.data;
const brief = (rows: Json[]) => rows.map(({ kind, id, field, from, to }) => [kind, id, field, from, to]);

/** Loads a catalogue, and returns the changes that were recorded for it. */
async function load(edits: Edits): Promise<Json[]> {
  const before = (await listed('?limit=100')).length;
  gateway.files.writeCatalogue(catalogue(edits));
  expect((await gateway.admin('POST', '/catalogue/reload')).status).toBe(200);
  const after = await listed('?limit=100');
  return after.slice(0, after.length - before);
}

describe('GET /v1/catalogue/changes', () => {
  it('is empty after the first load, and needs no key', async () => {
    // The load of a start is recorded a moment after it.
    await expect.poll(async () => (await load({})).length, { timeout: 60_000 }).toBe(0);
    expect((await read()).json).toEqual({ object: 'list', data: [], has_more: false });
  });

  it('records nothing for a reload that changes nothing', async () => {
    expect(await load({})).toEqual([]);
  });

  it('shows a price with its digest, source and date, at once and in the exact shape', async () => {
    const [row, ...more] = await load({ price: { input: 0.5 } });
    expect(more).toEqual([]);
    expect(row).toEqual({
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      ...{ kind: 'price', id: llama, field: 'input', from: '0.6', to: '0.5', ...stated },
    });
    expect(Object.keys(row!)).toEqual(['at', 'digest', 'kind', 'id', 'field', 'from', 'to', 'source', 'as_of']);
  });

  it('shows region, carbon, jurisdiction and terms, and a model and a route that come and go', async () => {
    const price = { input: 0.5 };
    const edits: Edits = {
      price,
      provider: { headquarters: 'US', cloud_act: true, excluded_territories: ['CU'], data_policy: { trains: true } },
      region: { country: 'AT', carbon: 250 },
      models: [extra],
    };
    const id = 'acme/meta/extra/global';
    const rows = await load(edits);
    expect(new Set(rows.map(({ digest }) => digest)).size).toBe(1);
    expect(brief(rows)).toEqual([
      ['region', 'defra', 'country', 'DE', 'AT'],
      ['carbon', 'defra', 'carbon', 300, 250],
      ['jurisdiction', 'acme', 'cloud_act', false, true],
      ['jurisdiction', 'acme', 'headquarters', 'DE', 'US'],
      ['terms', 'acme', 'data_policy.trains', null, true],
      ['terms', 'acme', 'excluded_territories', null, ['CU']],
      ['route', id, 'id', null, id],
      ['model', 'meta/extra', 'id', null, 'meta/extra'],
    ]);
    expect(brief(await load({ ...edits, models: [] }))).toEqual([
      ['route', id, 'id', id, null],
      ['model', 'meta/extra', 'id', 'meta/extra', null],
    ]);
    expect(await load({ ...edits, models: [] })).toEqual([]);
  });

  it('keeps the old digest and records nothing for a catalogue with a fault', async () => {
    const before = await listed('?limit=100');
    gateway.files.writeCatalogue(catalogue({ price: { input: -1 } }));
    expect((await gateway.admin('POST', '/catalogue/reload')).status).toBe(422);
    expect(await listed('?limit=100')).toEqual(before);
  });

  it('filters by model and provider, and pages', async () => {
    const all = await listed('?limit=100');
    const ids = async (query: string) => [...new Set((await listed(`?limit=100&${query}`)).map(({ id }) => id))];
    expect(await ids('model=meta/llama')).toEqual([llama]);
    expect(await ids('model=meta/extra')).toEqual(['acme/meta/extra/global', 'meta/extra']);
    expect(await ids('provider=acme')).toEqual(['acme/meta/extra/global', 'acme', llama]);
    expect(await ids('provider=acme&model=meta/llama')).toEqual([llama]);
    expect(await ids('provider=nobody')).toEqual([]);
    const first = (await read('?limit=4')).json;
    expect([first.data, first.has_more]).toEqual([all.slice(0, 4), true]);
    const rest = (await read(`?limit=100&offset=4`)).json;
    expect([rest.data, rest.has_more]).toEqual([all.slice(4), false]);
  });

  it.each(['?limit=0', '?limit=101', '?offset=-1', '?model=a&model=b'])('%s: 400', async (query) => {
    expect((await read(query)).status).toBe(400);
  });
});

/** The names of elements from the outside in, where every tag is closed in order. */
function elementsOf(xml: string): string[] {
  const open: string[] = [];
  const found: string[] = [];
  const body = xml.replace(/^<\?xml version="1\.0" encoding="utf-8"\?>\n/, '');
  expect(body.replace(/<[^<>]*>/g, '').replace(/&#\d+;/g, '')).not.toMatch(/[<>&]/);
  for (const [, close, name, self] of body.matchAll(/<(\/?)([a-z]+)(?: [a-z]+="[^"<]*")*(\/?)>/g)) {
    if (close) expect(open.pop()).toBe(name);
    else found.push([...open, name].join('/'));
    if (!close && !self) open.push(name!);
  }
  expect(open).toEqual([]);
  return found;
}

describe('GET /catalogue/changes.atom', () => {
  const feed = (query = '') => gateway.call('GET', `/catalogue/changes.atom${query}`, undefined, { key: null });

  it('is a valid feed with an entry for each change', async () => {
    const all = await listed('?limit=100');
    const { status, headers, text } = await feed();
    expect([status, headers['content-type']]).toEqual([200, 'application/atom+xml; charset=utf-8']);
    expect(text).toContain('<feed xmlns="http://www.w3.org/2005/Atom">');
    const elements = elementsOf(text);
    for (const name of ['id', 'title', 'updated', 'author', 'link']) expect(elements).toContain(`feed/${name}`);
    const count = (name: string) => elements.filter((element) => element === `feed/entry/${name}`).length;
    expect(['id', 'title', 'updated', 'content'].map(count)).toEqual(Array(4).fill(all.length));
    const ids = [...text.matchAll(/<entry>\n<id>([^<]*)<\/id>/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(all.length);
    expect(text).toContain('acme/meta/llama/defra: price input changed from 0.6 to 0.5');
    expect(text).toContain('price list &#34;A&#34; &#38; B');
    expect(text).toContain(`<updated>${all[0]!.at}</updated>`);
  });

  it('takes the same filters, and is valid without an entry', async () => {
    expect(elementsOf((await feed('?model=meta/llama')).text).filter((name) => name === 'feed/entry')).toHaveLength(1);
    expect(elementsOf((await feed('?provider=%3C%26')).text)).not.toContain('feed/entry');
  });
});
