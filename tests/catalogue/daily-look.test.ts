/** The daily look for an update of the catalogue, with a small one in use: the built-in one takes longer to load. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DailyCatalogueLook } from '../../src/app/catalogue-look.js';
import { CatalogueUpdates } from '../../src/app/catalogue-updates.js';
import { silentLogger } from '../../src/base/logger.js';
import { CatalogueHolder } from '../../src/catalogue/catalogue-holder.js';
import type { CatalogueValues } from '../../src/catalogue/update.js';
import type { AppliedUpdate } from '../../src/http/deps.js';
import { compressValues, fileBytesMax } from '../../src/proof/signed-catalogue.js';
import { dialects } from '../../src/providers/dialects/registry.js';
import { download } from '../../src/providers/transport/download.js';
import { type ConnectProxy, startConnectProxy } from '../support/connect-proxy.js';
import { ManualClock } from '../support/manual-clock.js';
import { memoryCatalogueUpdates } from '../support/memory-history.js';
import { signedFile, signer } from '../support/signed-catalogues.js';

const hourMs = 3_600_000;
const stated = { source: 's', as_of: '2026-11-01' };
const price = { input: 1, output: 1, ...stated };
const usedVersion = '2026.12.01';
const used = (): CatalogueFiles => ({
  'providers.yaml': {
    providers: [{ id: 'acme', base_url: 'https://acme.example/v1', api_key_env: 'ACME_API_KEY', ...stated }],
    regions: ['defra', 'frpar'].map((locode) => ({ locode, country: 'DE', carbon: 300, ...stated })),
  },
  'models.yaml': {
    models: [{ creator: 'meta', model: 'llama', routes: [{ provider: 'acme', locode: 'defra', price }] }],
  },
});

interface ModelValue {
  creator: string;
  model: string;
  routes: { provider: string; locode: string; default?: boolean; price: object }[];
}
type CatalogueFiles = Record<string, { models?: ModelValue[]; providers?: object[]; regions?: object[] }>;

/** What the server answers with. */
let published: Buffer;
let respond:
  | ((server: { file: Buffer }) => { status: number; headers: Record<string, string | number>; body: Buffer })
  | null;
let server: Server;
let url: string;
let proxy: ConnectProxy;

beforeAll(async () => {
  server = createServer((request, reply) => {
    if (request.url === '/moved') return void reply.writeHead(302, { location: '/catalogue' }).end();
    const answer = respond?.({ file: published }) ?? { status: 200, headers: {}, body: published };
    reply.writeHead(answer.status, answer.headers);
    // A body that is shorter than its head says is cut.
    reply.write(answer.body, () => (respond ? reply.destroy() : reply.end()));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  url = `http://127.0.0.1:${port}/catalogue`;
  proxy = await startConnectProxy(port, port);
});
afterAll(async () => {
  await proxy?.stop();
  server?.close();
});

let holder: CatalogueHolder;
let updates: CatalogueUpdates;
const clock = new ManualClock();
let store: ReturnType<typeof memoryCatalogueUpdates>;
let noted: AppliedUpdate[];

beforeEach(async () => {
  respond = null;
  noted = [];
  store = memoryCatalogueUpdates();
  const env = { ACME_API_KEY: 'sk-of-no-value' };
  const body = compressValues(used());
  await store.use({ version: usedVersion, part: 'all', note: '', body, appliedMs: 0 }, null);
  holder = new CatalogueHolder({
    ...{ files: ['builtin'], providerSettings: {}, env, clock, dialects, logger: silentLogger },
    update: () => updates.inUse,
  });
  updates = new CatalogueUpdates({
    ...{
      store,
      catalogue: holder,
      reload: () => holder.reload(),
      keys: [signer.verifier],
      clock,
      logger: silentLogger,
    },
  });
  await updates.read();
  await holder.load();
});

const lookWith = (apply: 'never' | 'additions' | 'all', from = url, env = {}) =>
  new DailyCatalogueLook({
    ...{ updates, store, apply, clock, logger: silentLogger },
    download: (ended) => download(from, fileBytesMax, env, { ended }),
    note: async (applied) => void noted.push(applied),
  });

const inUse = async () => (await updates.list()).inUse;
const report = async () => (await store.lastLook())?.text ?? '';
const isServed = (id: string) => holder.current!.routes.has(id);

/** What is in use with a new model, a new route, a dearer route, and providers at new addresses, one with a credential that is known here. */
function mixed(): CatalogueValues {
  const values = used();
  const models = values['models.yaml']!.models!;
  models[0]!.routes = [
    { provider: 'acme', locode: 'frpar', default: true, price },
    { provider: 'acme', locode: 'defra', price: { ...price, input: 999 } },
  ];
  const addModel = (model: string, provider: string) =>
    models.push({ creator: 'meta', model, routes: [{ provider, locode: 'defra', price }] });
  addModel('brand-new', 'acme');
  for (const [id, variable] of [
    ['thief', 'ACME_API_KEY'],
    ['later', 'LATER_API_KEY'],
  ] as const) {
    values['providers.yaml']!.providers!.push({
      id,
      base_url: `https://${id}.example/v1`,
      api_key_env: variable,
      ...stated,
    });
    addModel(`by-${id}`, id);
  }
  return values;
}

describe('the daily look for an update', () => {
  it('applies nothing with `never`, and says what would change', async () => {
    published = signedFile('2027.01.01', mixed());
    await lookWith('never').look();
    expect([await inUse(), noted]).toEqual([usedVersion, []]);
    expect(await report()).toMatch(
      /^The catalogue 2027\.01\.01: applied: nothing; not applied: \d+ address, \d+ new, 1 price_up/,
    );
  });

  it('applies only what adds with `additions`, keeps prices and defaults, and reports the rest', async () => {
    const before = new Map(holder.current!.routes);
    published = signedFile('2027.01.01', mixed());
    await lookWith('additions').look();
    expect([await inUse(), noted.map(({ part }) => part)]).toEqual(['2027.01.01', ['additions']]);
    const added = ['acme/meta/llama/frpar', 'acme/meta/brand-new/defra', 'later/meta/by-later/defra'];
    expect(added.filter(isServed)).toEqual(added);
    for (const [id, route] of before) {
      const now = holder.current!.routes.get(id);
      expect([id, now?.price, now?.isDefault, now?.baseUrl]).toEqual([id, route.price, route.isDefault, route.baseUrl]);
    }
    expect(await report()).toMatch(/price_up: .* input: .* → 999/);
  });

  it('never sends a credential of this gateway to a new address with `additions`', async () => {
    published = signedFile('2027.01.01', mixed());
    await lookWith('additions').look();
    expect(isServed('thief/meta/by-thief/defra')).toBe(false);
    expect(await report()).toContain('address: thief base_url: null → ACME_API_KEY at https://thief.example');
    await updates.apply(published, { confirm: true });
    expect(isServed('thief/meta/by-thief/defra')).toBe(true);
  });

  it('applies everything with `all`, once, and not again after a rollback', async () => {
    published = signedFile('2027.01.01', mixed());
    const look = lookWith('all');
    await look.look();
    expect([await inUse(), noted.length]).toEqual(['2027.01.01', 1]);
    expect(await report()).toMatch(/nothing left\.$/);
    await updates.rollback(null, { confirm: true });
    clock.advance(25 * hourMs);
    await look.look();
    expect([await inUse(), await report()]).toEqual([
      usedVersion,
      expect.stringContaining('not newer than those known here'),
    ]);
  });

  it('looks once a day in one process of a fleet, and an hour after a failure', async () => {
    published = signedFile('2027.01.01', mixed());
    const looks = [lookWith('never'), lookWith('never')];
    const times: number[] = [];
    const { reportLook } = store;
    store.reportLook = (look, againMs) => {
      times.push(look.atMs);
      return reportLook(look, againMs);
    };
    const from = clock.now();
    const hours = async (count: number) => {
      for (let hour = 0; hour < count; hour++) {
        await Promise.all(looks.map((look) => look.look()));
        clock.advance(hourMs);
      }
    };
    await hours(49);
    published = published.subarray(0, -9);
    await hours(26);
    expect(times.map((ms) => (ms - from) / hourMs)).toEqual([0, 24, 48, 72, 73, 74]);
    expect(await report()).toContain('Get the file again');
  });

  it.each<[string, () => void, RegExp]>([
    [
      'a download that is cut',
      () => {
        respond = ({ file }) => ({
          status: 200,
          headers: { 'content-length': file.length },
          body: file.subarray(0, 100),
        });
      },
      /could not be downloaded/,
    ],
    [
      'a file that is too large',
      () => {
        published = Buffer.alloc(fileBytesMax + 1);
      },
      /more than 163840 bytes, so it is not read/,
    ],
    [
      'a page that is not there',
      () => {
        respond = () => ({ status: 404, headers: {}, body: Buffer.from('no') });
      },
      /answered 404/,
    ],
    [
      'a page that is no catalogue',
      () => {
        published = Buffer.from('<html>Sign in to the network</html>');
      },
      /not a catalogue/,
    ],
    [
      'another signature',
      () => {
        published = signedFile(
          '2027.01.01',
          { 'a.yaml': {} },
          { ...signer, key: signer.key, verifier: { ...signer.verifier, name: 'x.example' } },
        );
      },
      /No key of/,
    ],
  ])('keeps the catalogue and reports %s', async (_, prepare, reason) => {
    published = signedFile('2027.01.01', mixed());
    prepare();
    await lookWith('all').look();
    expect([await inUse(), await report()]).toEqual([usedVersion, expect.stringMatching(reason)]);
  });

  it('follows a redirect, and goes through the proxy of the environment', async () => {
    published = signedFile('2027.01.01', mixed());
    await lookWith('never', url.replace('/catalogue', '/moved')).look();
    expect(await report()).toContain('The catalogue 2027.01.01');
    clock.advance(25 * hourMs);
    const env = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` };
    await lookWith('never', 'http://catalogue.example/catalogue', env).look();
    expect(await report()).toContain('The catalogue 2027.01.01');
    expect(proxy.heads.join()).toContain('catalogue.example');
  });
});
