/**
 * Plays every upstream failure of a corpus through a running gateway and prints those that were not understood.
 *
 *   node tests/soak/corpus.mjs corpus.jsonl [--anonymous]
 *
 * A line is a JSON object with `id`, `provider`, `status`, `body`, `meaning` (request_rejected, capacity, rate_limit, auth,
 * quota_exhausted, not_found, server_error, timeout, malformed) and, where they apply, `headers`, `inner_meaning` (of what is
 * malformed), `quota_period` and `shape`. With `--anonymous` every provider has the same id, so that only its words can tell.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { admin, startSoakGateway } from './soak-gateway.mjs';

const file = process.argv[2];
if (!file) throw new Error('Which corpus? node tests/soak/corpus.mjs corpus.jsonl [--anonymous]');
const anonymous = process.argv.includes('--anonymous');
const entries = readFileSync(file, 'utf8')
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line) => JSON.parse(line));

const textOf = ({ body }) => (typeof body === 'string' ? body : JSON.stringify(body));
const isStream = ({ shape }) => shape === 'sse' || shape === 'json_in_stream';
/** Content went out before the error: nothing can be taken back. */
const beganWell = (entry) => entry.shape === 'sse' && /"delta":\{"(?:content|reasoning)/.test(textOf(entry));
/** Nothing in it tells of a rejection, so it is an empty stream like any other. */
const saysNothing = (entry) => entry.shape === 'sse' && textOf(entry).trim() === 'data: [DONE]';

function outcomeWanted(entry) {
  if (beganWell(entry)) return 'cut';
  const meaning = entry.meaning === 'malformed' ? entry.inner_meaning : entry.meaning;
  if (saysNothing(entry)) return 'counted';
  if (meaning === 'request_rejected') return 'rejected';
  return meaning === 'quota_exhausted' && entry.quota_period === 'daily' ? 'held' : 'counted';
}

function headersOf(entry) {
  const type = isStream(entry) ? 'text/event-stream' : 'application/json';
  const given = Object.entries(entry.headers ?? {}).filter(([name]) => !/^:|^content-length$|^connection$/i.test(name));
  return { 'content-type': type, ...Object.fromEntries(given) };
}

function listening(handler) {
  const server = createServer(async (req, res) => {
    let body = '';
    for await (const piece of req) body += piece;
    handler(JSON.parse(body), res);
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}
const urlOf = (server) => `http://127.0.0.1:${server.address().port}/v1`;

const failing = await listening(({ model }, res) => {
  const entry = entries[Number(model)];
  res.writeHead(entry.status, headersOf(entry)).end(textOf(entry));
});
const answer = { id: 'x', object: 'chat.completion', created: 1, model: 'm' };
const serving = await listening(({ stream }, res) => {
  const choice = {
    index: 0,
    finish_reason: 'stop',
    [stream ? 'delta' : 'message']: { role: 'assistant', content: 'Yes.' },
  };
  const body = JSON.stringify({ ...answer, choices: [choice] });
  if (stream) res.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${body}\n\ndata: [DONE]\n\n`);
  else res.writeHead(200, { 'content-type': 'application/json' }).end(body);
});

const idOf = ({ provider }) => (anonymous ? 'acme' : provider);
const healthy = 'healthy';
const folder = mkdtempSync(join(tmpdir(), 'lodestone-corpus-'));
const catalogueFile = join(folder, 'corpus.yaml');
const route = (provider, model, price) => ({
  ...{ provider, locode: 'global', upstream_model: model, price: { input: price, output: price } },
});
const provider = (id, base_url) => ({ id, name: id, dialect: 'openai', base_url, auth: 'none' });
writeFileSync(
  catalogueFile,
  stringify({
    providers: [
      ...[...new Set(entries.map(idOf))].map((id) => provider(id, urlOf(failing))),
      provider(healthy, urlOf(serving)),
    ],
    models: entries.map((entry, at) => ({
      ...{ creator: 'corpus', model: `case-${at}` },
      routes: [route(idOf(entry), String(at), 1), route(healthy, `healthy-${at}`, 2)],
    })),
  }),
);
const gateway = await startSoakGateway({ upstreamUrl: urlOf(failing), config: { catalogue: [catalogueFile] } });

async function chat(model, stream) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.account.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'Say hello.' }] }),
  });
  return { status: response.status, text: await response.text() };
}

function outcomeOf({ status, text }, { hold, error_rate }) {
  if (hold) return 'held';
  if (status === 400) return error_rate > 0 ? 'rejected and counted' : 'rejected';
  if (status !== 200) return `HTTP ${status}`;
  if (!(error_rate > 0)) return 'not counted';
  return text.includes('"stream_end":"cut"') ? 'cut' : 'counted';
}

/** What a pin of the same route then answers. */
const pinned = {
  rejected: '400 invalid_request_error',
  held: '503 provider_quota_exhausted',
  counted: '503 provider_error',
};

let mismatches = 0;
for (const [at, entry] of entries.entries()) {
  const wanted = outcomeWanted(entry);
  const walked = await chat(`auto/corpus/case-${at}`, isStream(entry));
  const pin = `${idOf(entry)}/corpus/case-${at}/global`;
  const { data } = await admin(gateway.url, 'GET', '/routes');
  const got = outcomeOf(
    walked,
    data.find(({ id }) => id === pin),
  );
  const direct = await chat(pin, isStream(entry));
  const code = direct.status === 200 ? '200' : `${direct.status} ${JSON.parse(direct.text).error.code}`;
  if (got === wanted && code === (pinned[wanted] ?? '200')) continue;
  mismatches++;
  console.log(
    `${entry.id} (HTTP ${entry.status}): wanted ${wanted}, got ${got}, a pin ${code}\n  ${textOf(entry).slice(0, 300)}`,
  );
}
console.log(`${entries.length} failures, ${mismatches} not understood.`);
await gateway.stop();
failing.close();
serving.close();
rmSync(folder, { recursive: true, force: true });
process.exitCode = mismatches === 0 ? 0 : 1;
