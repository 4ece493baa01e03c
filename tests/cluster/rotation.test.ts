/** The key of stored credentials is replaced while requests use them, and the process is killed again and again in the middle of it. */
import { readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { catalogueOf, type SpawnedGateway, spawnGateway } from '../support/gateway.js';
import { scaled } from '../support/scaled.js';
import { completion, json, type ScriptedUpstream, startUpstream } from '../support/scripted-upstream.js';
import { makeSecretsKey } from '../support/secrets-key.js';
import { SeededRandom } from '../support/seeded-random.js';

const kills = scaled(2, 50);
/** The most that an account may have. */
const count = 50;
const keyFile = makeSecretsKey();
const secretOf = (n: number) => `own-secret-${n}-of-a-customer`;
const pin = (n: number) => `p${n}/meta/m/defra`;

let upstream: ScriptedUpstream;
let gateway: SpawnedGateway;
let key: string;
let accountId: string;

beforeAll(async () => {
  upstream = await startUpstream();
  const urls = Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, upstream.url]));
  const providers = Object.fromEntries(
    Object.keys(urls).map((id) => [id, { auth: 'key', api_key_env: 'NOT_SET_HERE' }]),
  );
  const catalogue = catalogueOf(urls, { model: 'm', providers });
  gateway = await spawnGateway({ catalogue, config: { secrets: { key_file: keyFile } } });
  ({ accountId, key } = await gateway.createAccount());
  for (let n = 0; n < count; n++) {
    const body = { provider: `p${n}`, name: 'n', secret: { api_key: secretOf(n) } };
    expect((await gateway.admin('POST', `/accounts/${accountId}/credentials`, body)).status).toBe(201);
  }
  upstream.onRequest(() => json(completion()));
}, 180_000);

afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

const chat = (n: number) =>
  gateway.chat({ model: pin(n), messages: [{ role: 'user', content: 'Hello.' }] }, { key }).then(
    ({ status }) => status,
    () => 'killed' as const,
  );

async function keyIds(): Promise<string[]> {
  const client = new pg.Client(gateway.files.databaseUrl!);
  await client.connect();
  const { rows } = await client.query<{ key_id: string }>(
    'select distinct key_id from lodestone.credentials order by 1',
  );
  await client.end();
  return rows.map(({ key_id }) => key_id);
}

const filesBeside = () => readdirSync(dirname(keyFile)).filter((name) => name.startsWith(basename(keyFile)));

it('every credential works afterwards, under the new key alone, and none failed meanwhile', async () => {
  const random = new SeededRandom(7);
  const [before] = await keyIds();
  for (let killed = 0; killed < kills; killed++) {
    const rotating = gateway.admin('POST', '/secrets/rotate').catch(() => null);
    const traffic = Array.from({ length: 20 }, () => chat(random.below(count)));
    await new Promise((resolve) => setTimeout(resolve, random.below(60)));
    await gateway.kill('SIGKILL');
    await rotating;
    expect((await Promise.all(traffic)).filter((status) => status !== 200 && status !== 'killed')).toEqual([]);
    await gateway.restart();
  }
  const traffic = Array.from({ length: count }, (_, n) => chat(n));
  const rotated = await gateway.admin('POST', '/secrets/rotate');
  expect([rotated.status, rotated.json.failed], rotated.text).toEqual([200, []]);
  expect(await Promise.all(traffic)).toEqual(Array(count).fill(200));
  expect(await keyIds()).toEqual([rotated.json.key]);
  expect(rotated.json.key).not.toBe(before);
  expect(filesBeside()).toEqual([basename(keyFile)]);
  await gateway.restart();
  upstream.calls.length = 0;
  for (let n = 0; n < count; n++) {
    expect(await chat(n)).toBe(200);
    expect(upstream.calls[n]?.headers.authorization).toBe(`Bearer ${secretOf(n)}`);
  }
}, 300_000);
