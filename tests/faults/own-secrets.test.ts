/**
 * The secret of a customer's credential is looked for wherever a gateway leaves something: its log, traces, answers, exports, files, a
 * dump of its database, and what a process writes that crashes. The report of a crash has the environment, and so the operator's keys.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chatCatalogue } from '../api/catalogue.js';
import { ask } from '../api/harness.js';
import { managerOf } from '../api/projects/manager.js';
import { type Collector, startCollector } from '../observability/otlp.js';
import { type SpawnedGateway, spawnGateway } from '../support/gateway.js';
import { rowsOf } from '../support/kept-by-gateway.js';
import { completion, json, type ScriptedUpstream, sse, startUpstream, streamOf } from '../support/scripted-upstream.js';
import { secretsIn } from '../support/secrets.js';
import { makeSecretsKey } from '../support/secrets-key.js';

const own = 'a-secret-for-all-places-0123456789-abcdef';
const other = 'another-secret-for-all-places-0123456789';
const known = new Map([own, other].map((secret) => [secret, secret]));
const model = 'keyed/meta/llama/defra';

let upstream: ScriptedUpstream;
let collector: Collector;
let gateway: SpawnedGateway;
const texts = new Map<string, string>();

beforeAll(async () => {
  upstream = await startUpstream();
  collector = await startCollector();
  gateway = await spawnGateway({
    catalogue: chatCatalogue(upstream.url),
    config: { secrets: { key_file: makeSecretsKey() } },
    env: {
      KEYED_API_KEY: 'the-key-of-the-operator',
      LODESTONE_LOG_LEVEL: 'debug',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      NODE_OPTIONS: '--report-on-signal --report-signal=SIGUSR2 --report-on-fatalerror --report-directory=reports',
    },
  });
  mkdirSync(join(gateway.files.folder, 'reports'), { recursive: true });
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
  collector?.stop();
});

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

it('no place has it, plain, in base64 or in hexadecimal', async () => {
  const manager = await managerOf({ gateway });
  const say = async (what: string, reply: Promise<{ text: string; status: number }>, status: number) => {
    const { text, status: found } = await reply;
    expect(found, `${what}: ${text}`).toBe(status);
    texts.set(what, text);
  };
  const made = await manager.call('POST', '/credentials', {
    provider: 'keyed',
    name: 'ours',
    secret: { api_key: own },
  });
  expect(made.status, made.text).toBe(201);
  const path = `/credentials/${made.json.id}`;
  const chat = () => gateway.chat(ask({ model }), { key: manager.key });
  const quoting = (status: number, secret: string) =>
    json({ error: { message: `Incorrect API key provided: ${secret}.`, key: secret } }, { status });
  upstream.enqueue(json(completion()));
  await say('an answer', chat(), 200);
  for (const status of [400, 401, 403, 429, 500]) {
    upstream.enqueue(quoting(status, own));
    await say(`the answer to a ${status}`, chat(), 503);
  }
  upstream.enqueue(sse(streamOf(['a', 'b'])));
  await say('a stream', gateway.stream(ask({ model }), { key: manager.key }), 200);
  const broken = { id: 'x', object: 'chat.completion.chunk', error: { message: `bad key ${own}`, code: 401 } };
  upstream.enqueue(sse([...streamOf(['a'], { finishReason: null, usage: null }), broken]));
  await say('a stream that fails', gateway.stream(ask({ model }), { key: manager.key }), 200);
  upstream.enqueue(quoting(401, own));
  await say('a check', manager.call('POST', `${path}/check`), 200);
  await say('a fault', manager.call('PATCH', path, { secret: { api_key: `${other}\n` } }), 422);
  await say('a fault of a field', manager.call('PATCH', path, { secret: { api_key: own, token: other } }), 422);
  await say('a body that is no JSON', manager.call('PATCH', path, `{"secret": {"api_key": "${other}"}`), 400);
  await say('the change', manager.call('PATCH', path, { secret: { api_key: other } }), 200);
  await say('the list', manager.call('GET', '/credentials'), 200);
  await say('a rotation', gateway.admin('POST', '/secrets/rotate'), 200);
  for (const kind of ['generations', 'ledger', 'audit'])
    await say(`the export of ${kind}`, gateway.admin('GET', `/export/${kind}?format=ndjson`), 200);
  await say('the metrics', gateway.call('GET', '/metrics'), 200);
  upstream.enqueue(json(completion()));
  await say('an answer after the change', chat(), 200);
  expect(upstream.calls.at(-1)?.headers.authorization).toBe(`Bearer ${other}`);

  const reports = join(gateway.files.folder, 'reports');
  gateway.signal('SIGUSR2');
  await expect.poll(() => filesIn(reports).length, { timeout: 20_000 }).toBeGreaterThan(0);
  await expect
    .poll(() => readFileSync(filesIn(reports)[0]!, 'utf8').trimEnd().endsWith('}'), { timeout: 20_000 })
    .toBe(true);
  // A crash in the middle of an answer.
  upstream.enqueue(sse(streamOf(['a', 'b', 'c', 'd']), { gapMs: 200 }));
  const cut = gateway.stream(ask({ model }), { key: manager.key }).catch(() => null);
  await upstream.waitFor(() => upstream.calls.length > 0);
  await gateway.kill('SIGABRT');
  await cut;
  texts.set('the log', `${gateway.output.stderr}${gateway.output.stdout}`);
  for (const { path: name, body } of collector.posts)
    texts.set(`traces ${name} ${texts.size}`, body.toString('latin1'));
  for (const folder of [gateway.files.folder, gateway.files.dataDir])
    for (const file of filesIn(folder)) texts.set(file, readFileSync(file, 'latin1'));
  texts.set('the rows', (await rowsOf(gateway.files.databaseUrl!)).join('\n'));
  const dump = spawnSync('pg_dump', [gateway.files.databaseUrl!], { encoding: 'latin1', maxBuffer: 1 << 28 });
  // Without the program, or of another major version, the rows have to do.
  if (dump.status === 0) texts.set('the dump', dump.stdout);
  expect(texts.get('the rows')).toContain(made.json.id);
  const found = [...texts].flatMap(([place, text]) => secretsIn(text, known).map((secret) => `${secret} in ${place}`));
  expect(found).toEqual([]);
  console.log(`${texts.size} places searched, ${dump.status === 0 ? 'with' : 'without'} a dump of the database.`);
});
