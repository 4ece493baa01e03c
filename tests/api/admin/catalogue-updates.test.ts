import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { builtinVersion } from '../../../src/catalogue/builtin.js';
import { versionDayMs } from '../../../src/catalogue/update.js';
import { main } from '../../../src/cli/cli.js';
import { newSigner } from '../../../src/proof/note.js';
import type { Json } from '../../support/client.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import { adminToken } from '../../support/gateway-files.js';
import {
  type CatalogueEdits,
  extraModel,
  signedFile,
  signer,
  smallCatalogue,
  updateBody,
} from '../../support/signed-catalogues.js';
import { query } from '../database.js';

let gateway: TestGateway;
const folder = mkdtempSync(join(tmpdir(), 'lodestone-updates-'));
beforeAll(async () => {
  gateway = await startGateway({ config: { catalogue_updates: { key: signer.verifier.text } } });
});
afterAll(async () => {
  await gateway?.stop();
  rmSync(folder, { recursive: true });
});

const path = '/catalogue/updates';
let count = 0;
const post = (file: Buffer, more?: object) => gateway.admin('POST', path, updateBody(file, more));
const apply = async (version: string, edits: CatalogueEdits = {}) => {
  const reply = await post(signedFile(version, smallCatalogue(edits)), { confirm: true });
  expect([reply.status, reply.json.applied], reply.text.slice(0, 500)).toEqual([200, true]);
  return reply.json;
};
const inUse = async () => (await gateway.admin('GET', path)).json.in_use;
const kept = async () => (await gateway.admin('GET', path)).json.data.map(({ version }: Json) => version);
const effectsOf = ({ changes }: { changes: Json[] }) => changes.map(({ effect, id, field }) => [effect, id, field]);
const priceNow = async () => {
  const { json } = await gateway.call('GET', '/v1/models');
  const model = json.data.find(({ id }: Json) => String(id).includes('meta/llama'));
  return model && JSON.stringify(model.pricing ?? model);
};

/** The command as an operator types it. */
async function lodestone(line: string, ask?: (question: string) => Promise<string>) {
  const out: string[] = [];
  const write = (text: string) => void out.push(text);
  const env = { LODESTONE_URL: gateway.url, LODESTONE_ADMIN_TOKEN: adminToken };
  const code = await main(line.split(' '), { out: write, err: write, env, cwd: folder, ...(ask && { ask }) });
  return { code, out: out.join('\n') };
}

describe('an update of the catalogue', () => {
  it('says in a dry run what would change, and changes nothing', async () => {
    const { status, json } = await post(signedFile('2027.01.01'), { dry_run: true });
    expect([status, json.applied, json.needs_confirmation, json.from]).toEqual([200, false, true, builtinVersion]);
    expect(effectsOf(json)).toContainEqual(['new', 'acme/meta/llama/defra', 'id']);
    expect(effectsOf(json)).toContainEqual(['gone', 'sandbox', 'id']);
    expect([await inUse(), await kept()]).toEqual([builtinVersion, []]);
  });

  it('replaces the built-in catalogue, is recorded and audited, and survives a restart', async () => {
    const { digest } = await apply('2027.01.01');
    const listed = (await gateway.admin('GET', path)).json;
    expect(listed).toMatchObject({ in_use: '2027.01.01', builtin: builtinVersion, last_look: null });
    expect(listed.data).toEqual([{ version: '2027.01.01', part: 'all', applied_at: expect.any(String), in_use: true }]);
    const changes = (await gateway.call('GET', '/v1/catalogue/changes?limit=100', undefined, { key: null })).json.data;
    expect(changes[0].digest).toBe(digest);
    const audit = (await gateway.admin('GET', '/audit?limit=1')).json.data[0];
    expect([audit.action, audit.subject, audit.details]).toEqual([
      'catalogue.update',
      '2027.01.01',
      { from: builtinVersion, part: 'all' },
    ]);
    const before = await priceNow();
    await gateway.restart();
    expect([await inUse(), await priceNow()]).toEqual(['2027.01.01', before]);
    expect((await gateway.admin('POST', '/catalogue/reload')).json).toMatchObject({ models: 1, providers: 1 });
  });

  it('409 where a price rises and nobody has agreed, and changes nothing', async () => {
    const { status, json } = await post(signedFile('2027.02.01', smallCatalogue({ price: 2 })));
    expect([status, json.error.code]).toEqual([409, 'catalogue_update_unconfirmed']);
    expect([await inUse(), await kept()]).toEqual(['2027.01.01', ['2027.01.01']]);
  });

  it('tells prices that rise from those that fall, and law from policy', async () => {
    const dry = async (edits: CatalogueEdits) =>
      (await post(signedFile('2027.02.01', smallCatalogue(edits)), { dry_run: true })).json;
    const route = 'acme/meta/llama/defra';
    expect(effectsOf(await dry({ price: 2 }))).toEqual([
      ['price_up', route, 'input'],
      ['price_up', route, 'output'],
    ]);
    const cheaper = await dry({ price: 0.5, models: [extraModel('extra')] });
    expect(cheaper.needs_confirmation).toBe(false);
    expect(new Set(cheaper.changes.map(({ effect }: Json) => effect))).toEqual(new Set(['price_down', 'new']));
    expect(effectsOf(await dry({ cloudAct: true }))).toEqual([['law', 'acme', 'cloud_act']]);
  });

  it.each<[string, () => Buffer, RegExp]>([
    [
      'of another key',
      () => signedFile('2027.03.01', smallCatalogue(), newSigner('catalogue.example.com')),
      /No key of/,
    ],
    [
      'without a signature',
      () =>
        Buffer.from(
          signedFile('2027.03.01')
            .toString('latin1')
            .replace(/\n\u00e2.*?\n/, '\n'),
          'latin1',
        ),
      /not a catalogue/,
    ],
    ['older than the one in use', () => signedFile('2026.12.01'), /older than the one in use \(2027.01.01\)/],
    ['not newer than the built-in one', () => signedFile(builtinVersion), /not newer than the built-in one/],
    ['that is in use', () => signedFile('2027.01.01'), /in use already/],
    ['that was cut', () => signedFile('2027.03.01').subarray(0, -7), /bytes of catalogue, and should have/],
    ['that is no archive', () => Buffer.from('PK\u0003\u0004 not one'), /not a catalogue/],
    [
      'with a route that lost its price',
      () => signedFile('2027.03.01', smallCatalogue({ price: null })),
      /acme\/meta\/llama\/defra: found no price/,
    ],
    [
      'with a figure without a source',
      () => signedFile('2027.03.01', { 'a.yaml': { regions: [{ locode: 'defra', country: 'DE', carbon: 3 }] } }),
      /found nothing, expected where carbon of defra is from/,
    ],
    [
      'with a route of an unknown provider',
      () =>
        signedFile(
          '2027.03.01',
          smallCatalogue({ models: [{ ...extraModel('x'), routes: [{ provider: 'nobody', locode: 'defra' }] }] }),
        ),
      /found "nobody", expected a provider/,
    ],
  ])('422 for a file %s, and the running catalogue stays', async (_, file, reason) => {
    const { status, json } = await post(file(), { confirm: true });
    expect([status, json.error.message]).toEqual([422, expect.stringMatching(reason)]);
    expect(json.error.message).toMatch(/old (one|catalogue) stays in use/);
    expect([await inUse(), await kept()]).toEqual(['2027.01.01', ['2027.01.01']]);
  });

  it('400 for a file that is larger than one may be', async () => {
    const { status } = await post(Buffer.alloc(200 * 1024, 'a'), { confirm: true });
    expect(status).toBe(400);
    const long = await post(Buffer.alloc(170 * 1024, 'a'), { confirm: true });
    expect([long.status, long.json.error.message]).toEqual([
      422,
      expect.stringContaining('at most 163840 bytes are read'),
    ]);
  });

  it('keeps the last five, and goes back to any of them and to the built-in one', async () => {
    for (const month of ['02', '03', '04', '05', '06'])
      await apply(`2027.${month}.01`, { price: 1 + Number(month) / 100 });
    expect(await kept()).toEqual(['06', '05', '04', '03', '02'].map((month) => `2027.${month}.01`));
    const back = async (body: object) => (await gateway.admin('POST', '/catalogue/rollback', body)).json;
    expect(await back({ dry_run: true })).toMatchObject({ version: '2027.05.01', from: '2027.06.01', applied: false });
    expect(await back({})).toMatchObject({ version: '2027.05.01', from: '2027.06.01', applied: true });
    expect(await back({})).toMatchObject({ version: '2027.04.01', applied: true });
    expect(await back({ version: '2027.02.01' })).toMatchObject({ version: '2027.02.01', applied: true });
    expect((await back({ version: '2027.01.01' })).error.message).toContain('Choose one of: 2027.06.01,');
    await gateway.restart();
    expect(await inUse()).toBe('2027.02.01');
    expect(await back({})).toMatchObject({ version: builtinVersion, part: null, applied: true });
    expect((await back({})).error.message).toContain('nothing to take back');
    expect([await inUse(), (await kept()).length]).toEqual([builtinVersion, 5]);
    await apply('2027.07.01');
  });

  it('the command asks where a price rises, and --yes agrees', async () => {
    writeFileSync(join(folder, 'dearer'), signedFile('2027.08.01', smallCatalogue({ price: 3 })));
    const refused = await lodestone('catalogue update dearer');
    expect([refused.code, refused.out]).toEqual([1, expect.stringContaining('2027.07.01 stays in use')]);
    expect(refused.out).toMatch(/^price up {3}acme\/meta\/llama\/defra input: 1 → 3$/m);
    const questions: string[] = [];
    const no = await lodestone('catalogue update dearer', async (question) => {
      questions.push(question);
      return 'n';
    });
    expect([no.code, questions.length, await inUse()]).toEqual([1, 1, '2027.07.01']);
    const yes = await lodestone('catalogue update dearer --yes');
    expect([yes.code, yes.out]).toEqual([0, expect.stringContaining('2027.08.01 is in use.')]);
    const back = await lodestone('catalogue rollback');
    expect([back.code, await inUse()]).toEqual([0, '2027.07.01']);
    expect((await lodestone('catalogue updates')).out).toMatch(/^2027\.07\.01 +all +\S+ +in use$/m);
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['a list without `builtin`', {}, /has no `builtin`/],
    [
      'a file of the operator that names what the update does not have',
      { catalogue: ['builtin', 'catalogue.yaml'] },
      /catalogue\.yaml:\d+:\d+: models\[0\]\.routes\[0\]\.provider: found "sandbox", expected a provider/,
    ],
  ])('422 for %s', async (_, config, reason) => {
    const own = { creator: 'own', model: 'one', routes: [{ provider: 'sandbox', locode: 'global' }] };
    const other = await startGateway({
      catalogue: {
        models: [own],
        ...('catalogue' in config ? {} : { providers: [{ id: 'sandbox', dialect: 'sandbox' }] }),
      },
      config: { ...config, catalogue_updates: { key: [signer.verifier.text] } },
    });
    try {
      const { status, json } = await other.admin('POST', path, updateBody(signedFile('2027.01.01'), { confirm: true }));
      expect([status, json.error.message]).toEqual([422, expect.stringMatching(reason)]);
    } finally {
      await other.stop();
    }
  });
});

describe('an update in the store that this gateway cannot use', () => {
  it.each<[string, Buffer]>([
    ['is of another version of the gateway', gzipSync('{"a.yaml":{"unknown":[]}}')],
    ['is damaged', Buffer.from('damaged')],
  ])(
    'does not stop a start where it %s: the built-in catalogue is used until a rollback or a newer one',
    async (_, body) => {
      await query(gateway, 'update lodestone.catalogue_updates set body = $1 where in_use', [body]);
      await gateway.restart();
      expect(await inUse()).toBe(builtinVersion);
      const { json } = await gateway.admin('POST', '/catalogue/rollback', {});
      expect([json.applied, json.from]).toEqual([true, builtinVersion]);
      expect((await apply(`2027.09.0${++count}`)).from).toBe(json.version);
    },
  );
});

describe('lodestone catalogue pack', () => {
  it('makes a small file of the built-in catalogue that a gateway with its key takes', async () => {
    writeFileSync(join(folder, 'key'), signer.text);
    // On the catalogue's own day: later some of its routes are retired, and it cannot be packed again.
    vi.useFakeTimers({ toFake: ['Date'], now: versionDayMs(builtinVersion)! });
    onTestFinished(() => void vi.useRealTimers());
    const version = `${builtinVersion.slice(0, '2026.11.18'.length)}.9`;
    const { code, out } = await lodestone(`catalogue pack --version ${version} --key key -o packed`);
    expect([code, out]).toEqual([0, expect.stringContaining(signer.verifier.text)]);
    expect(Number(/(\d+) bytes/.exec(out)![1])).toBeLessThan(32_768);
    await lodestone(`catalogue rollback ${builtinVersion}`);
    const taken = await lodestone('catalogue update packed --dry-run');
    expect([taken.code, taken.out]).toEqual([0, expect.stringContaining(`${builtinVersion} → ${version}: no change.`)]);
  });

  it.each([
    ['2026.02.30', /must be a day/],
    ['yesterday', /must be a day/],
    ['2199.01.01', /in the future/],
    ['2020.01.01', /built-in catalogue is of/],
  ])('refuses the version %s', async (version, reason) => {
    const { code, out } = await lodestone(`catalogue pack --version ${version} --key key -o packed`);
    expect([code, out]).toEqual([2, expect.stringMatching(reason)]);
  });
});
