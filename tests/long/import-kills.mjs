/**
 * An import is killed at a random moment, by turns the command and the gateway, and run again: the gateway then has what an import that
 * was left alone makes.
 *
 *   node tests/long/import-kills.mjs --rounds 20
 */
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import * as run from './restarted-gateway.mjs';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '20' } } });
const rounds = Number(values.rounds);
const keys = 400;

/** Ends in the same four characters in every round, because they are a part of what is compared. */
const tokenOf = (round, n) => `sk-${round}-${String(n).padStart(4, '0')}`;

/** Customers with teams and virtual keys. `round` keeps the sources apart, because a gateway knows what it has imported. */
function sourceOf(round) {
  const id = (kind, n) => `${round}-${kind}${n}`;
  const budget_id = id('b', 0);
  const customers = [0, 1, 2].map((n) => ({ id: id('c', n), name: id('customer', n), budget_id }));
  const teams = [0, 1, 2, 3, 4, 5].map((n) => ({ id: id('t', n), name: `team ${n}`, customer_id: id('c', n % 3) }));
  const virtual_keys = Array.from({ length: keys }, (_, n) => ({
    ...{ id: id('k', n), name: `key ${n}`, value: tokenOf(round, n), is_active: n % 50 !== 0 },
    ...(n % 7 === 0 ? {} : { team_id: id('t', n % 6) }),
    ...(n % 3 === 0 && { budget_id }),
  }));
  const budgets = [{ id: budget_id, max_limit: 12.5, reset_duration: '1d', current_usage: 0.25 }];
  return { governance: { budgets, customers, teams, virtual_keys } };
}

const provider = await run.startProvider((_plan, { res }) => run.wholeAnswer(res, 'hello', [5, 5]));
const gateway = new run.RestartedGateway({ addresses: { acme: provider.url } });
const folder = dirname(gateway.configFile);
await gateway.start();

function importOf(round, killAfterMs) {
  const file = join(folder, `${round}.json`);
  writeFileSync(file, JSON.stringify(sourceOf(round)));
  const words = ['import', 'bifrost', file, '--out', join(folder, round), '--apply', '--accept-gaps'];
  return gateway.command({ killAfterMs }, ...words, '--new-account', `${round}@example.test`, '--credit-usd', '10');
}

/** What an import has made, without ids of the gateway and times. */
async function stateOf(round) {
  const { data } = await gateway.admin('GET', '/accounts');
  const own = data.filter(({ email }) => email === `${round}@example.test` || email.startsWith(`${round}+`));
  const state = [];
  for (const { id, ...account } of own) {
    const lists = { account: [account] };
    for (const [what, query] of [
      ['projects', ''],
      ['keys', '?limit=1000'],
      ['ledger', ''],
    ]) {
      const listed = (await gateway.admin('GET', `/accounts/${id}/${what}${query}`)).data;
      lists[what] = listed.map((each) => plain(each, round)).sort();
    }
    state.push({ ...lists, account: plain(account, round) });
  }
  return JSON.stringify(state.sort((a, b) => (a.account < b.account ? -1 : 1)));
}

const ownIds = ['id', 'created_at', 'updated_at', 'project', 'last_used_at'];
function plain(value, round) {
  const isOwn = (name, inner) => ownIds.includes(name) && typeof inner === 'string' && !inner.startsWith(round);
  return JSON.stringify(value, (name, inner) => (isOwn(name, inner) ? undefined : inner)).replaceAll(round, 'round');
}

const startedAt = Date.now();
const alone = await importOf('alone');
const wholeMs = Date.now() - startedAt;
const expected = await stateOf('alone');
const checks = new run.Checks();
checks.check(
  `left alone it ends with ${alone.code} and makes ${keys} keys`,
  alone.code === 0 && alone.output.includes(`${keys} keys made`),
);
let interrupted = 0;
let differing = 0;
let failed = 0;
for (let n = 0; n < rounds; n++) {
  const round = `round${n}x`;
  const afterMs = wholeMs * (0.2 + 0.8 * Math.random());
  const killsCommand = n % 2 === 0;
  const command = importOf(round, killsCommand ? afterMs : undefined);
  if (!killsCommand) {
    await run.pause(afterMs);
    await gateway.kill('SIGKILL');
  }
  const { code } = await command;
  if (!killsCommand) await gateway.start();
  if (code !== 0) interrupted++;
  const again = await importOf(round);
  if (again.code !== 0) failed++;
  const state = await stateOf(round);
  if (state === expected) continue;
  const at = [...state].findIndex((character, index) => character !== expected[index]);
  if (differing++ === 0) console.log(`${state.slice(at - 200, at + 100)}\n${expected.slice(at - 200, at + 100)}`);
}
checks.check(`${rounds} rounds, ${interrupted} of them ended early`, interrupted > 0);
checks.check(`${failed} could not be run again`, failed === 0);
checks.check(`${differing} differ from the import that was left alone`, differing === 0);
const { status } = await fetch(`${gateway.url}/v1/chat/completions`, {
  method: 'POST',
  headers: { authorization: `Bearer ${tokenOf('round0x', 1)}`, 'content-type': 'application/json' },
  body: JSON.stringify({ model: run.pin, messages: [{ role: 'user', content: '{}' }] }),
});
checks.check(`a token that was brought along gets ${status}`, status === 200);
checks.finish();
await gateway.remove();
provider.stop();
