/** Damaged and hostile files in the place of a catalogue: none is applied, and none ends or slows the gateway. */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newSigner, signNote } from '../../src/proof/note.js';
import { damaged } from '../support/damaged-bytes.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { scaled } from '../support/scaled.js';
import { SeededRandom } from '../support/seeded-random.js';
import { extraModel, signedFile, signer, smallCatalogue, updateBody } from '../support/signed-catalogues.js';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ config: { catalogue_updates: { key: signer.verifier.text } } });
  const first = updateBody(signedFile('2027.01.01'), { confirm: true });
  expect((await gateway.admin('POST', '/catalogue/updates', first)).json.applied).toBe(true);
});
afterAll(() => gateway?.stop());

/** Made once: to compress them takes longer than to refuse them. */
const bombs = [3, 30].map((megabytes) => gzipSync(Buffer.alloc(megabytes * 1_000_000, ' ')));
const bombInBomb = gzipSync(gzipSync(Buffer.alloc(30_000_000)));

const version = '2027.02.01';
const good = () => signedFile(version, smallCatalogue({ price: 2 }));

/** Any bytes as the body of a file that the right key has signed. */
function signedBody(body: Buffer, { by = signer, at = version, length = body.length } = {}): Buffer {
  const digest = createHash('sha256').update(body).digest('base64');
  return Buffer.concat([
    Buffer.from(`${signNote(`lodestone-catalogue/1\n${at}\n${digest} ${length}\n`, [by])}\n`),
    body,
  ]);
}
const signedText = (text: string) => signedBody(gzipSync(text));
const signedJson = (values: unknown) => signedText(JSON.stringify(values));

/** The note and the body of a file. */
function partsOf(file: Buffer): [Buffer, Buffer] {
  const end = file.indexOf('\n\n', file.indexOf('\n\n') + 2) + 2;
  return [file.subarray(0, end), file.subarray(end)];
}

function flipped(random: SeededRandom, file: Buffer): Buffer {
  const copy = Buffer.from(file);
  for (let count = 1 + random.below(3); count > 0; count--) {
    const at = random.below(copy.length);
    copy[at] = copy[at]! ^ (1 + random.below(255));
  }
  return copy;
}

function swapped(random: SeededRandom): Buffer {
  const [[note, body], [otherNote, otherBody]] = [
    partsOf(good()),
    partsOf(signedFile('2027.03.01', smallCatalogue({ price: 3 }))),
  ];
  return random.pick([
    Buffer.concat([note, otherBody]),
    Buffer.concat([otherNote, body]),
    Buffer.concat([body, note]),
    Buffer.concat([note, note, body]),
    Buffer.concat([note, body, body]),
    Buffer.concat([note, bombs[1]!]),
  ]);
}

const edited = (from: string | RegExp, to: string) =>
  Buffer.from(good().toString('latin1').replace(from, to), 'latin1');

const forged: ((random: SeededRandom) => Buffer)[] = [
  (random) => random.pick([Buffer.alloc(1), Buffer.from('\n\n\n\n'), Buffer.from('{}'), Buffer.alloc(8_000, '\n')]),
  (random) => edited(version, random.pick(['2027.02.02', '2099.01.01', '0000.00.00'])),
  () => edited(/\u00e2\u0080\u0094 .*\n/, ''),
  () => signedFile(version, smallCatalogue(), newSigner(signer.verifier.name)),
  () => signedFile(version, smallCatalogue(), newSigner('other.example.com')),
  (random) => signedFile(random.pick(['2026.12.31', '2027.01.01', '2020.01.01']), smallCatalogue({ price: 2 })),
];

/** What the holder of the key might send by mistake, or after the key was stolen. */
const signedFaults: ((random: SeededRandom) => Buffer)[] = [
  (random) => signedBody(random.pick(bombs)),
  () => signedBody(bombInBomb),
  (random) => signedBody(Buffer.from(random.pick(['', '{}', 'PK\u0003\u0004', 'a'.repeat(5_000)]))),
  (random) => signedBody(gzipSync('{}'), { length: random.pick([0, 7, 999_999_999]) }),
  (random) => signedBody(gzipSync('{}'), { at: random.pick(['2027.13.01', '', '2027.02.01.10', '../2027.02.01']) }),
  (random) => signedText(random.pick(['null', '[]', '7', '""', '{', '{}', '[{}]', '\ufeff', '{"a.yaml":'])),
  (random) => signedText(random.pick(['[', '{"a.yaml":[']).repeat(random.pick([200, 100_000]))),
  (random) =>
    signedText(`{"a.yaml":${'['.repeat(120)}${']'.repeat(120)},"b.yaml":${random.pick(['null', '1', '[]', '"x"'])}}`),
  (random) => signedText(`{"${random.pick(['__proto__', '../../etc/passwd', 'a', '', 'A.yaml', 'a/b/c.yaml'])}":{}}`),
  (random) =>
    signedJson({
      'a.yaml': { [random.pick(['providers', 'regions', 'models'])]: random.pick([7, 'x', [null], [[]], [{}], {}]) },
    }),
  () => signedJson({ 'a.yaml': { models: Array.from({ length: scaled(300, 3_000) }, () => ({})) } }),
  () => signedText('{"a.yaml":{"providers":[{"id":"__proto__","__proto__":{"configured":true}}]}}'),
  () => signedJson(smallCatalogue({ price: null })),
  (random) => signedJson(smallCatalogue({ price: random.pick([-1, 1e30, 0.000_000_01]) })),
  () => signedJson(smallCatalogue({ models: [extraModel('x'), extraModel('x')] })),
  () => signedJson(smallCatalogue({ models: [{ ...extraModel('x'), unknown: 1 }] })),
  () => signedJson(smallCatalogue({ models: [{ ...extraModel('x'), retires: { date: '2020-01-01', source: 's' } }] })),
  () =>
    signedJson(smallCatalogue({ models: [{ ...extraModel('x'), routes: [{ provider: 'acme', locode: 'zzzzz' }] }] })),
];

/** A third is damaged, a third forged, and a third signed, each kind of which comes in turn. */
function hostileFile(random: SeededRandom, index: number): Buffer {
  const turn = Math.floor(index / 3);
  if (index % 3 === 0) return signedFaults[turn % signedFaults.length]!(random);
  if (index % 3 === 1) return turn % 2 === 0 ? swapped(random) : forged[Math.floor(turn / 2) % forged.length]!(random);
  const file = good();
  const damages = [
    () => flipped(random, file),
    () => file.subarray(0, random.below(file.length)),
    () => damaged(random, file),
  ];
  return damages[turn % damages.length]!();
}

describe('files that are no update', () => {
  const count = scaled(60, 500);
  it(`applies none of ${count}, answers each with a reason, and serves on`, async () => {
    const random = new SeededRandom(20_261_118);
    const state = async () => {
      const { in_use, data } = (await gateway.admin('GET', '/catalogue/updates')).json;
      const routes = (await gateway.admin('GET', '/routes')).json.data;
      const [change] = (await gateway.call('GET', '/v1/catalogue/changes?limit=1')).json.data;
      return { in_use, data, routes, change };
    };
    const before = await state();
    for (let index = 0; index < count; index++) {
      const file = hostileFile(random, index);
      if (file.equals(good())) continue;
      const more = random.pick([{ confirm: true }, { confirm: true }, { dry_run: true }]);
      const { status, json } = await gateway.admin('POST', '/catalogue/updates', updateBody(file, more));
      const about = `file ${index}: ${file.subarray(0, 120).toString('latin1')} → ${JSON.stringify(json).slice(0, 300)}`;
      expect([400, 422], about).toContain(status);
      expect(json.error?.message.length, about).toBeGreaterThan(20);
      expect(json.error.message.length, about).toBeLessThan(10_000);
    }
    expect(await state()).toEqual(before);
    expect(({} as { configured?: boolean }).configured).toBeUndefined();
    const next = await gateway.admin('POST', '/catalogue/updates', updateBody(good(), { confirm: true }));
    expect(next.json).toMatchObject({ applied: true, version });
  }, 120_000);
});
