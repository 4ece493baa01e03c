/**
 * Mixed requests (whole answers, streams, streams that are left, failures) in rounds. In each round the gateway is killed under load, an older
 * version writes generations of an old month, that month is pruned under load, and the store is moved to another database. After each of
 * these `storage check` finds nothing, and the groups of the activity add up to its total. At the end every whole answer was billed once,
 * at its price.
 *
 *   node tests/long/records.mjs --requests 100000 --rounds 8
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { startEmbedded } from '../../dist/storage/embedded/embedded.js';
import * as run from './restarted-gateway.mjs';

const { values } = parseArgs({
  options: { requests: { type: 'string', default: '100000' }, rounds: { type: 'string', default: '8' } },
});
const requests = Number(values.requests);
const rounds = Number(values.rounds);
const callerCount = 16;
const oldRows = Math.min(5_000, Math.ceil(requests / 10));
const kinds = ['json', 'json', 'json', 'stream', 'left', 'failure', 'walk'];
const groups = ['key', 'model', 'provider', 'locode', 'status', 'account'];
const random = (below) => Math.floor(Math.random() * below);
const wordsOf = (count) => Array.from({ length: count }, (_, i) => (i % 2 ? ' two' : ' one'));
const silent = { debug() {}, info() {}, warn() {}, error() {} };

function answer(plan, { res, body }) {
  if (!body.stream) return run.wholeAnswer(res, 'One two three.', plan.tokens);
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  const words = wordsOf(plan.words);
  const timer = setInterval(() => {
    if (words.length > 0) return void res.write(run.textFrame(words.shift()));
    clearInterval(timer);
    res.end(run.streamEnd(plan.tokens));
  }, 1);
  res.once('close', () => clearInterval(timer));
}
const failing = (res) => {
  res.writeHead(500, { 'content-type': 'application/json' });
  res.end('{"error":{"message":"out of order"}}');
};
const fails = ({ kind }) => kind === 'failure' || kind === 'walk';
const acme = await run.startProvider((plan, call) => (fails(plan) ? failing(call.res) : answer(plan, call)));
const beta = await run.startProvider((plan, call) =>
  plan.kind === 'failure' ? failing(call.res) : answer(plan, call),
);

const folder = mkdtempSync(join(tmpdir(), 'lodestone-records-'));
const server = await startEmbedded({ dataDir: folder, logger: silent, connectionsMax: 60 });
const urlOf = (database) => {
  const { host, port, user } = server.connection;
  return `postgres://${user}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`;
};
const clientOf = async (database) => {
  const client = new pg.Client({ ...server.connection, database });
  await client.connect();
  return client;
};

// It begins with an embedded store; the first move takes it to the server.
const gateway = new run.RestartedGateway({ addresses: { acme: acme.url, beta: beta.url } });
await gateway.start();
const account = await gateway.createAccount();
const checks = new run.Checks();
const exact = new Map();
const broken = new Set();
let agent = run.newAgent();
let isDown = false;
let sent = 0;
let old = 0;

async function caller(upTo) {
  while (sent < upTo) {
    if (isDown) {
      await run.pause(20);
      continue;
    }
    const kind = kinds[random(kinds.length)];
    const plan = { kind, n: ++sent, words: 3 + random(10), tokens: [1 + random(500), 1 + random(500)] };
    const seen = await run.send(gateway, agent, account, {
      ...{ model: kind === 'walk' ? run.auto : run.pin, plan, stream: kind === 'stream' || kind === 'left' },
      leaveAfter: kind === 'left' ? 1 + random(plan.words) : Infinity,
    });
    if (seen.status === 200 && seen.whole)
      exact.set(seen.id, run.costOf(kind === 'walk' ? 'beta' : 'acme', ...plan.tokens));
    else if (seen.text !== '') broken.add(seen.id);
    if (seen.status === 0) await run.pause(20);
  }
}

/** Runs the callers up to a number of requests, and something else in the middle of it. */
async function underLoad(upTo, work) {
  const middle = (sent + upTo) / 2;
  const callers = Array.from({ length: callerCount }, () => caller(upTo));
  while (sent < middle) await run.pause(5);
  await work();
  await Promise.all(callers);
}

async function killUnderLoad() {
  isDown = true;
  await gateway.kill('SIGKILL');
  await agent.destroy();
  agent = run.newAgent();
  await gateway.start();
  isDown = false;
}

/** One settlement as an older version writes it, without anything of the rollups, in a month that is long over. */
async function writeAsOlder(database, monthMs) {
  const client = await clientOf(database);
  await client.query('begin');
  await client.query('select lodestone.lock_accounts($1)', [[account.id]]);
  await client.query(
    `insert into lodestone.generations (id, request_id, account_id, key_id, key_name, created_ms, requested_model, served_model, provider,
       locode, streamed, status, prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens, cost_pico, billed, latency_ms,
       providers_attempted, fallback_occurred, attempts)
     select lodestone.generation_ids_from(at) || lpad(i::text, 16, '0'), '', $1, 'key-of-before', 'before', at, '${run.pin}', '${run.pin}',
       'acme', 'defra', false, 200, 3, 4, 0, 0, 7, true, 10, '["acme"]', false, '[]'
     from (select i, $2::bigint + i * 1000 as at from generate_series(1, $3::integer) i) s`,
    [account.id, monthMs, oldRows],
  );
  await client.query('select lodestone.charge($1, $2, $3, $4)', [[account.id], [7 * oldRows], [], []]);
  await client.query('commit');
  await client.end();
  old += oldRows;
}

async function expectAgreement(after) {
  const { code, output } = await gateway.command('storage', 'check');
  checks.check(`${after}: ${output.trim().slice(0, 400)}`, code === 0);
  for (const group of groups) {
    const path = `/activity?from=2000-01-01&interval=day&group_by=${group}`;
    const { data, total } = await gateway.admin('GET', path);
    const sums = Object.fromEntries(
      ['requests', 'errors', 'prompt_tokens', 'completion_tokens', 'cached_tokens'].map((name) => [
        name,
        data.reduce((sum, row) => sum + row[name], 0),
      ]),
    );
    const cost = data.reduce((sum, row) => sum + run.pico(row.cost_usd), 0n);
    const isEqual =
      Object.entries(sums).every(([name, sum]) => sum === total[name]) && cost === run.pico(total.cost_usd);
    if (!isEqual) checks.check(`${after}: the groups by ${group} add up to the total`, false);
  }
}

let database = null;
for (let round = 0; round < rounds; round++) {
  const end = Math.floor((requests * (round + 1)) / rounds);
  const half = Math.floor((sent + end) / 2);
  await underLoad(half, killUnderLoad);
  await expectAgreement(`round ${round + 1}, killed`);
  if (database === null) await underLoad(end, async () => {});
  else {
    const date = new Date();
    const monthMs = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - rounds - 2 + round, 1);
    await underLoad(end, async () => {
      await writeAsOlder(database, monthMs);
      await expectAgreement(`round ${round + 1}, beside an older version`);
      await pruneWhenSealed(round);
    });
    await expectAgreement(`round ${round + 1}, pruned`);
  }
  await gateway.kill('SIGTERM');
  const next = `records_${round}`;
  const owner = await clientOf('postgres');
  await owner.query(`create database ${next}`);
  const { code, output } = await gateway.command('storage', 'move', '--to', urlOf(next));
  checks.check(`round ${round + 1}, moved: ${output.trim().split('\n').at(-1)}`, code === 0);
  if (database !== null) await owner.query(`drop database ${database} with (force)`);
  await owner.end();
  database = next;
  const { data_dir } = gateway.settings.storage;
  gateway.configure({ storage: { data_dir, database_url: urlOf(next), retention: { generations: '1mo' } } });
  await gateway.start();
  await expectAgreement(`round ${round + 1}, moved`);
  console.log(
    `round ${round + 1}: ${sent} requests, ${exact.size} whole, ${broken.size} left or broken off, ${old} of an older version`,
  );
}

/** Nothing is pruned before it is in the log of receipts. */
async function pruneWhenSealed(round) {
  for (let attempt = 0; attempt < 300; attempt++) {
    const { months } = await gateway.admin('POST', '/storage/prune', { dry_run: false });
    if (months.length > 0) return;
    await run.pause(200);
  }
  checks.check(`round ${round + 1}: the old month was pruned`, false);
}

const costs = new Map();
let doubles = 0;
for (const entry of await gateway.ledger(account)) {
  if (entry.kind !== 'usage' || !entry.generation_id) continue;
  if (costs.has(entry.generation_id)) doubles++;
  costs.set(entry.generation_id, -run.pico(entry.amount_usd));
}
const missing = [...exact].filter(([id]) => !costs.has(id)).length;
const wrong = [...exact].filter(([id, price]) => costs.has(id) && costs.get(id) !== price).length;
console.log(`${sent} requests in ${rounds} rounds: ${exact.size} whole, ${broken.size} left or broken off`);
checks.check(`${missing} whole answers unbilled, ${wrong} at another price`, missing + wrong === 0);
checks.check(`${doubles} billed twice`, doubles === 0);
checks.check(
  `${costs.size - exact.size - broken.size} billed without an answer, at most those in flight at a kill`,
  costs.size - exact.size - broken.size <= callerCount * rounds,
);
checks.finish();
await gateway.remove();
await server.stop();
rmSync(folder, { recursive: true, force: true });
acme.stop();
beta.stop();
await agent.destroy();
