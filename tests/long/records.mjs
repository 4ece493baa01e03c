/**
 * Mixed requests (whole answers, streams, streams that are left, requests that are given up, failures) in rounds. In each round, in a
 * random order and under load: the gateway is killed; an older version writes a month that is long over, and that month is pruned, in
 * some rounds with a kill in the middle; the store is moved to another database, in some rounds after a move that was killed. After each
 * of these `storage check` finds nothing, the groups of the activity add up to its total, and the total is what the ledger says. At the
 * end every whole answer was billed once, at its price, and every answer and error that came has its record.
 *
 *   node tests/long/records.mjs --requests 100000 --rounds 8
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { startEmbedded } from '../../dist/storage/embedded/embedded.js';
import * as agreement from './records-agreement.mjs';
import * as run from './restarted-gateway.mjs';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '8' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    minutes: { type: 'string', default: '60' },
  },
});
const [requests, rounds] = [Number(values.requests), Number(values.rounds)];
const callerCount = 16;
const oldRows = Math.min(5_000, Math.ceil(requests / 10));
const kinds = ['json', 'json', 'json', 'stream', 'left', 'given up', 'failure', 'walk'];
const random = (below) => Math.floor(Math.random() * below);
/** For the order of the steps and for when something is killed. */
const randomStep = randomFrom(Number(values.seed));
const wordsOf = (count) => Array.from({ length: count }, (_, i) => (i % 2 ? ' two' : ' one'));
const silent = { debug() {}, info() {}, warn() {}, error() {} };
console.log(`--seed ${values.seed}`);
setTimeout(() => {
  console.log(`FAIL not finished after ${values.minutes} minutes, ${sent} requests`);
  process.exit(1);
}, Number(values.minutes) * 60_000).unref();

function answer(plan, { res, body }) {
  if (plan.kind === 'given up')
    return void setTimeout(() => run.wholeAnswer(res, 'One two three.', plan.tokens), plan.words);
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
const urlOf = (name) => {
  const { host, port, user } = server.connection;
  return `postgres://${user}@localhost/${name}?host=${encodeURIComponent(host)}&port=${port}`;
};
const withClient = async (name, work) => {
  const client = new pg.Client({ ...server.connection, database: name });
  await client.connect();
  return work(client).finally(() => client.end());
};

// It begins with an embedded store; the first move takes it to the server.
const gateway = new run.RestartedGateway({ addresses: { acme: acme.url, beta: beta.url } });
await gateway.start();
const account = await gateway.createAccount();
const checks = new run.Checks();
const exact = new Map();
let agent = run.newAgent();
let isDown = false;
let database = null;
let [sent, answered, kills, broken, givenUp, pruned] = [0, 0, 0, 0, 0, 0];

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
      ...(kind === 'given up' && { signal: AbortSignal.timeout(1 + random(12)) }),
    });
    if (seen.whole) answered++;
    if (seen.status === 200 && seen.whole)
      exact.set(seen.id, run.costOf(kind === 'walk' ? 'beta' : 'acme', ...plan.tokens));
    else if (seen.text !== '') broken++;
    else if (kind === 'given up') givenUp++;
    if (seen.status === 0 && kind !== 'given up') await run.pause(20);
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
  kills++;
  await gateway.kill('SIGKILL');
  await agent.destroy();
  agent = run.newAgent();
  await gateway.start();
  isDown = false;
}

/** An older version settles in a month that is over, with the gateway beside it, and the month is pruned. */
async function pruneUnderLoad(what, round) {
  const date = new Date();
  const monthMs = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - rounds - 2 + round, 1);
  await withClient(database, (client) => agreement.settleAsOlder(client, { account, monthMs, rows: oldRows }));
  await agreement.expectGroups(gateway, checks, `${what}, beside an older version`);
  const isKilled = randomStep(2) === 0;
  if (isKilled) {
    // Nothing is pruned before it is in the log of receipts, so most of the first calls prune nothing.
    const prune = gateway.admin('POST', '/storage/prune', { dry_run: false }).catch(() => {});
    await run.pause(randomStep(60));
    await killUnderLoad();
    await prune;
  }
  const month = new Date(monthMs).toISOString().slice(0, 7);
  for (let attempt = 0; attempt < 600; attempt++) {
    await gateway.admin('POST', '/storage/prune', { dry_run: false });
    if (await withClient(database, (client) => agreement.isPruned(client, monthMs))) {
      pruned += oldRows;
      return checks.check(`${what}: ${month} was pruned${isKilled ? ', with a kill in between' : ''}`, true);
    }
    await run.pause(200);
  }
  checks.check(`${what}: ${month} was pruned`, false);
}

async function move(what) {
  const next = `records_${what.replaceAll(/\D/g, '')}`;
  await gateway.kill('SIGTERM');
  await withClient('postgres', (client) => client.query(`create database ${next}`));
  const isKilled = randomStep(2) === 0;
  if (isKilled) await gateway.command({ killAfterMs: 300 + randomStep(1_500) }, 'storage', 'move', '--to', urlOf(next));
  const { code, output } = await gateway.command({}, 'storage', 'move', '--to', urlOf(next));
  const last = output.trim().split('\n').at(-1);
  checks.check(`${what}${isKilled ? ', after a move that was killed' : ''}: ${last}`, code === 0);
  if (code !== 0) throw new Error(output);
  if (database !== null)
    await withClient('postgres', (client) => client.query(`drop database ${database} with (force)`));
  database = next;
  const { data_dir } = gateway.settings.storage;
  gateway.configure({ storage: { data_dir, database_url: urlOf(next), retention: { generations: '1mo' } } });
  await gateway.start();
}

for (let round = 0; round < rounds; round++) {
  // Only the server of this run can be written to by an older version, so the first round has no prune.
  const steps = round === 0 ? ['killed', 'moved'] : shuffled(['killed', 'pruned', 'moved']);
  for (const [i, step] of steps.entries()) {
    const what = `round ${round + 1}, ${step}`;
    const end = Math.floor((requests * (round + (i + 1) / steps.length)) / rounds);
    await underLoad(end, async () => {
      if (step === 'killed') await killUnderLoad();
      if (step === 'pruned') await pruneUnderLoad(what, round);
    });
    if (step === 'moved') await move(what);
    await agreement.expectAgreement(gateway, checks, what, account);
  }
  console.log(
    `${sent} requests, ${kills} kills: ${exact.size} whole, ${broken} left or broken off, ${givenUp} given up, ${pruned} pruned`,
  );
}

const { costs, doubles, statements } = await agreement.billsOf(gateway, account);
const recorded = await agreement.countRecords(gateway, account);
const missing = [...exact].filter(([id]) => !costs.has(id)).length;
const wrong = [...exact].filter(([id, price]) => costs.has(id) && costs.get(id) !== price).length;
const more = costs.size - exact.size - broken;
checks.check(
  `${sent} requests, ${exact.size} whole answers: ${missing} unbilled, ${wrong} at another price`,
  missing + wrong === 0,
);
checks.check(`${doubles} billed twice`, doubles === 0);
checks.check(`${answered} whole answers and errors, ${recorded} records`, recorded >= answered && recorded <= sent);
checks.check(
  `${more} billed that nobody saw, at most ${givenUp} given up and ${callerCount} in flight at each of ${kills} kills`,
  more <= givenUp + callerCount * kills,
);
checks.check(
  `${statements.length} statements of pruned months, over ${pruned} requests`,
  statements.length === rounds - 1 && statements.every(({ amount }) => amount === 7n * BigInt(oldRows)),
);
checks.finish();
await gateway.remove();
await server.stop();
rmSync(folder, { recursive: true, force: true });
acme.stop();
beta.stop();
await agent.destroy();

function shuffled(list) {
  return list
    .map((item) => [randomStep(1 << 30), item])
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);
}

/** A linear congruential generator: whole numbers below a bound, the same ones for the same seed. */
function randomFrom(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
