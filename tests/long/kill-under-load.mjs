/**
 * Mixed requests (whole answers, streams with and without usage, streams that are left, failures, walks that go on) while the gateway
 * and its settler are killed again and again, against prices that this file works out by itself: nothing unbilled, nothing billed twice,
 * nothing billed at another price, and every generation a leaf of the log exactly once.
 *
 *   node tests/long/kill-under-load.mjs --requests 40000 --kills 60 --settler-kills 60
 */
import { parseArgs } from 'node:util';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import * as run from './restarted-gateway.mjs';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '40000' },
    kills: { type: 'string', default: '60' },
    'settler-kills': { type: 'string', default: '60' },
  },
});
const requests = Number(values.requests);
const kills = Number(values.kills);
const settlerKills = Number(values['settler-kills']);
const callerCount = 16;
const kinds = ['json', 'json', 'stream', 'stream', 'counted', 'left', 'failure', 'walk', 'walk_stream'];
const random = (below) => Math.floor(Math.random() * below);
const wordsOf = (count) => Array.from({ length: count }, (_, i) => (i % 2 ? ' two' : ' one'));

function stream(res, plan, usage) {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  const words = wordsOf(plan.words);
  const timer = setInterval(() => {
    if (words.length > 0) return void res.write(run.textFrame(words.shift()));
    clearInterval(timer);
    res.end(run.streamEnd(usage));
  }, 2);
  res.once('close', () => clearInterval(timer));
}

function answer(plan, { res, body }) {
  if (body.stream) stream(res, plan, plan.kind === 'counted' || plan.kind === 'left' ? null : plan.tokens);
  else setTimeout(() => run.wholeAnswer(res, 'One two three.', plan.tokens), random(8));
}
const failing = (res) => {
  res.writeHead(500, { 'content-type': 'application/json' });
  res.end('{"error":{"message":"out of order"}}');
};
const fails = ({ kind }) => kind === 'failure' || kind === 'walk' || kind === 'walk_stream';
const acme = await run.startProvider((plan, call) => (fails(plan) ? failing(call.res) : answer(plan, call)));
const beta = await run.startProvider((plan, call) =>
  plan.kind === 'failure' ? failing(call.res) : answer(plan, call),
);
const gateway = new run.RestartedGateway({ addresses: { acme: acme.url, beta: beta.url } });
await gateway.start();
const account = await gateway.createAccount();

const promptTokensOf = (plan) => 3 + 3 + countTokens('user') + countTokens(JSON.stringify(plan));
/** The price of an answer that arrived whole. */
function priceOf(plan) {
  // A caller that meant to leave may have got everything before.
  if (plan.kind === 'counted' || plan.kind === 'left')
    return run.costOf('acme', promptTokensOf(plan), countTokens(wordsOf(plan.words).join('')));
  return run.costOf(plan.kind.startsWith('walk') ? 'beta' : 'acme', ...plan.tokens);
}
/**
 * What a stream that broke off may cost at most: prompt and text by a generous estimate, or the provider's own figures, where they
 * came before the kill cut the last bytes.
 */
const mostOf = (plan) =>
  run.costOf('beta', Math.max(40 + JSON.stringify(plan).length, plan.tokens[0]), plan.words * 4 + plan.tokens[1]);

const exact = new Map();
const broken = new Map();
let sent = 0;
let unbilledFailures = 0;
let unknown = 0;
let agent = run.newAgent();
let isDown = false;

async function caller() {
  while (sent < requests) {
    if (isDown) {
      await run.pause(20);
      continue;
    }
    const kind = kinds[random(kinds.length)];
    const plan = { kind, n: ++sent, words: 5 + random(40), tokens: [1 + random(500), 1 + random(500)] };
    const isStream = kind !== 'json' && kind !== 'walk' && kind !== 'failure';
    const model = kind.startsWith('walk') ? run.auto : run.pin;
    const leaveAfter = kind === 'left' ? 1 + random(plan.words) : Infinity;
    const seen = await run.send(gateway, agent, account, { model, plan, stream: isStream, leaveAfter });
    if (seen.status === 200 && seen.whole) exact.set(seen.id, priceOf(plan));
    else if (seen.text !== '') broken.set(seen.id, mostOf(plan));
    else if (kind === 'failure') unbilledFailures++;
    else unknown++;
    if (seen.status === 0) await run.pause(20);
  }
}

let settlersKilled = 0;
/** Between the kills of the gateway, and sometimes during its start or its end. */
async function killSettlers() {
  for (let kill = 0; kill < settlerKills; kill++) {
    const at = ((kill + 0.5) * requests) / (settlerKills + 1);
    while (sent < at) await run.pause(5);
    await run.pause(random(100));
    while (!gateway.killSettler()) await run.pause(20);
    settlersKilled++;
  }
}

const callers = Array.from({ length: callerCount }, caller);
const settlers = killSettlers();
for (let kill = 0; kill < kills; kill++) {
  const at = ((kill + 1) * requests) / (kills + 1);
  while (sent < at) await run.pause(5);
  await run.pause(random(50));
  isDown = true;
  await gateway.kill('SIGKILL');
  await agent.destroy();
  agent = run.newAgent();
  await gateway.start();
  isDown = false;
  if (kill % 10 === 9) console.log(`${kill + 1} kills, ${sent} requests`);
}
await Promise.all([...callers, settlers]);
await gateway.kill('SIGTERM');
await gateway.start();
const { costs, doubles, isBalanced } = await gateway.books(account);
const checks = new run.Checks();
const missing = [...exact].filter(([id]) => !costs.has(id));
const wrong = [...exact].filter(([id, price]) => costs.has(id) && costs.get(id) !== price);
const free = [...broken].filter(([id]) => !((costs.get(id) ?? 0n) > 0n));
const dear = [...broken].filter(([id, most]) => (costs.get(id) ?? 0n) > most);
const more = costs.size - exact.size - broken.size;
console.log(
  `${sent} requests, ${kills} kills of the gateway and ${settlersKilled} of its settler: ${exact.size} whole, ${broken.size} left or broken off, ${unbilledFailures} failures, ${unknown} without an answer`,
);
for (const [id, price] of wrong.slice(0, 10)) console.log(`${id}: billed ${costs.get(id)}, worth ${price}`);
checks.check(
  `${missing.length} whole answers unbilled, ${wrong.length} at another price`,
  missing.length + wrong.length === 0,
);
checks.check(
  `${free.length} streams unbilled that broke off after some text, ${dear.length} billed too much`,
  free.length + dear.length === 0,
);
checks.check(`${doubles} billed twice`, doubles === 0);
checks.check(
  `${more} billed without an answer, at most those in flight at a kill`,
  more >= 0 && more <= callerCount * kills,
);
checks.check('the balance is the sum of the ledger', isBalanced);
const { faults, generations } = await gateway.sealedCheck();
for (const fault of faults.slice(0, 10)) console.log(JSON.stringify(fault));
checks.check(
  `${faults.length} faults in the store: balances, sums and ${generations} generations, each a leaf of the log once`,
  faults.length === 0,
);
checks.finish();
await gateway.remove();
acme.stop();
beta.stop();
await agent.destroy();
