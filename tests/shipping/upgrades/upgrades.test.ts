/**
 * Data of every form that an earlier version has written, as files, opened by this one: journals, receipts with their proofs, migrations,
 * and what a release has promised. `forms/` was written by the code of those versions (lines-* before the binary journal, records-* since).
 * tests/cluster/upgrade-from-before.test.ts goes from an older gateway to this one and back while requests run.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.js';
import { main } from '../../../src/cli/cli.js';
import { loadConfig } from '../../../src/config/load-config.js';
import type { Generation } from '../../../src/domain/generation.js';
import { checkpointText } from '../../../src/proof/checkpoint.js';
import { leafHash, nodeHash } from '../../../src/proof/merkle.js';
import { signerOf, signNote } from '../../../src/proof/note.js';
import { receiptText, receiptVersion } from '../../../src/proof/receipt.js';
import { openStore } from '../../../src/storage/open-store.js';
import { aGeneration } from '../../support/generation.js';
import { JournalPlace } from '../../support/journal-place.js';
import { freshDatabase } from '../../support/postgres.js';
import { manifest } from '../shipped-files.js';
import { type Promised, promised } from './promise.js';

const folder = import.meta.dirname;
const forms = readdirSync(join(folder, 'forms'));
const textIn = (form: string, file: string) => readFileSync(join(folder, 'forms', form, file), 'utf8');

/** As it was when it was written; what did not exist yet is empty now. */
function generationsIn(form: string): Generation[] {
  const read = (_: string, value: unknown) =>
    typeof value === 'object' && value !== null && 'pico' in value ? BigInt(String(value.pico)) : value;
  const empty = Object.fromEntries(Object.keys(aGeneration()).map((name) => [name, null]));
  return JSON.parse(textIn(form, 'generations.json'), read).map((each: object) => ({ ...empty, ...each }));
}

function placeOf(form: string): JournalPlace {
  const place = new JournalPlace();
  mkdirSync(place.dir, { recursive: true });
  cpSync(join(folder, 'forms', form, 'journal'), place.dir, { recursive: true });
  return place;
}

describe('a journal of an earlier version', () => {
  it.each(forms)('%s is settled by this one, record for record, and is empty then', async (form) => {
    const place = placeOf(form);
    const journal = await place.start();
    const expected = generationsIn(form);
    expect(expected).toHaveLength(3);
    expect(await journal.settled(10_000)).toBe(true);
    for (const each of expected) expect(place.store.records.get(each.id)).toMatchObject(known(each));
    expect(place.store.records.size).toBe(3);
    await place.close(journal);
    await place.start();
    expect(place.store.records.size, 'nothing is settled twice under another id').toBe(3);
    await place.remove();
  });

  it('every one arrives in PostgreSQL, and what it cost is on the account', async () => {
    const database = await freshDatabase();
    const real = await openStore({ connection: database.connection, logger: silentLogger });
    const account = { id: 'account-1', email: 'a@example.com', name: null, billingCountry: null, createdAt: 0 };
    await real.accounts.create(account);
    // Each form has the same ids: what is there already changes nothing.
    for (const form of forms) {
      const place = placeOf(form);
      const journal = await place.start({ settle: real.ledger.settle });
      expect(await journal.settled(10_000)).toBe(true);
      await place.remove();
    }
    expect(await real.accounts.find('account-1')).toMatchObject({ usagePico: 1_000_000_010n });
    expect((await real.records.check()).faults).toEqual([]);
    await real.close();
    await database.drop();
  });
});

/** What the store of the tests can compare. */
function known(generation: Generation): object {
  return Object.fromEntries(Object.entries(generation).filter(([, value]) => value !== null));
}

describe('a receipt of every version', () => {
  const signer = signerOf('llm.example.com/log', Buffer.alloc(32, 9));
  const log = { origin: signer.verifier.name, salt: Buffer.alloc(32, 7) };
  const kept = forms.filter((form) => existsSync(join(folder, 'forms', form, 'receipts.txt')));
  const receiptsIn = (form: string) => textIn(form, 'receipts.txt').trimEnd().split('\n');

  it('is kept here', () => {
    const versions = kept.map((form) => JSON.parse(receiptsIn(form)[0]!).v);
    expect(versions.toSorted()).toEqual(Array.from({ length: receiptVersion }, (_, index) => index + 1));
  });

  it.each(kept)('%s: is made again from its record to the byte', (form) => {
    const texts = receiptsIn(form);
    const version = JSON.parse(texts[0]!).v;
    expect(generationsIn(form).map((each) => receiptText(each, log, version))).toEqual(texts);
  });

  it.each(kept)('%s: its proof holds by the command, and not with one byte changed', async (form) => {
    const leaves = receiptsIn(form).map((text) => leafHash(text));
    const [first, second, third] = leaves as [Buffer, Buffer, Buffer];
    const root = nodeHash(nodeHash(first, second), third);
    const checkpoint = signNote(checkpointText({ origin: log.origin, size: 3, root }), [signer]);
    const proof = {
      ...{ object: 'receipt_proof', receipt: receiptsIn(form)[1], leaf_hash: second.toString('base64'), leaf_index: 1 },
      ...{ tree_size: 3, inclusion_path: [first, third].map((hash) => hash.toString('base64')), checkpoint },
      verifier_key: signer.verifier.text,
    };
    const cwd = mkdtempSync(join(tmpdir(), 'lodestone-proof-'));
    const verify = async (value: object) => {
      writeFileSync(join(cwd, 'proof.json'), JSON.stringify(value));
      const io = { out: () => {}, err: () => {}, env: {}, cwd };
      return main(['receipt', 'verify', 'proof.json', '--key', signer.verifier.text], io);
    };
    expect(await verify(proof)).toBe(0);
    expect(await verify({ ...proof, receipt: proof.receipt!.replace('"cost_usd":"0', '"cost_usd":"1') })).toBe(1);
    rmSync(cwd, { recursive: true });
  });
});

describe('what a release has promised', () => {
  if (process.env.LODESTONE_PROMISE)
    writeFileSync(join(folder, `released-${manifest.version}.json`), `${JSON.stringify(promised(), null, 2)}\n`);
  const releases = readdirSync(folder).filter((name) => /^released-.*\.json$/.test(name));
  const now = promised();

  it('is written down for 1.0.0', () => expect(releases).toContain('released-1.0.0.json'));

  // A row that is gone or means something else breaks the promise of docs/guide/releases.md: keep it, or wait for the next major version.
  it.each(releases)(
    '%s: every operation, error, field, metric, migration and receipt is there, with the same meaning',
    (name) => {
      const then: Promised = JSON.parse(readFileSync(join(folder, name), 'utf8'));
      for (const [part, rows] of Object.entries(then)) {
        expect(Object.keys(rows).length, part).toBeGreaterThan(0);
        const same = Object.fromEntries(Object.keys(rows).map((row) => [row, now[part]![row]]));
        expect(same, part).toEqual(rows);
      }
    },
  );

  it('its configuration is accepted, with the same meaning', () => {
    const env = { DATABASE: 'postgres://u:p@db.example.com/l' };
    const config = loadConfig({ file: 'released-1.0.0.yaml', env, cwd: folder });
    expect(config).toMatchObject({
      ...{ workers: 1, demo: false, registration: 'closed', welcomeCreditPico: 500_000_000_000n },
      server: {
        host: '0.0.0.0',
        port: 9000,
        drainMs: 310_000,
        clientIpHeader: 'x-real-ip',
        bodyMemoryMaxBytes: 2 ** 28,
      },
      storage: { dataDir: join(folder, 'state'), databaseUrl: env.DATABASE, redisTimeoutMs: 60 },
      limits: { ipRequestsPerMinute: 100, keyRequestsPerMinute: 50, keyTokensPerMinute: 10_000 },
      ...{ journal: { sync: 'interval' }, compat: { openRouter: true } },
    });
    expect(config.providers.mistral, 'its variable is absent, so it is left out').toMatchObject({ apiKey: null });
    expect(config.providers.openai?.keys?.map(({ name }) => name)).toEqual(['first', 'second']);
  });
});
