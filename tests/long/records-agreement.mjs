/** What tests/long/records.mjs compares: checks of the store, groups with totals, totals with the ledger. */
import * as run from './restarted-gateway.mjs';

const counts = ['requests', 'errors', 'prompt_tokens', 'completion_tokens', 'cached_tokens'];
const ofOne = ['key', 'model', 'provider', 'locode', 'status'];
const ofAll = [...ofOne, 'account'];
/** A statement stands for the usage of a pruned month. */
const usageKinds = new Set(['usage', 'statement']);

/** The store by itself, every group against its total, and the total against the ledger. */
export async function expectAgreement(gateway, checks, after, account) {
  const { code, output } = await gateway.command({}, 'storage', 'check');
  checks.check(`${after}: ${output.trim().slice(0, 600)}`, code === 0);
  await expectGroups(gateway, checks, after);
  await expectLedger(gateway, checks, after, account);
}

/** Each answer by itself, so it holds under load too. */
export async function expectGroups(gateway, checks, after) {
  for (const interval of ['day', 'hour'])
    for (const group of ofAll) {
      const path = `/activity?${period(interval)}&interval=${interval}&group_by=${group}`;
      expectSum(checks, `${after}: ${interval}s by ${group}`, await patiently(() => gateway.admin('GET', path)));
    }
}

/** The most that an answer by the hour covers is shorter than what one by the day does. */
const period = (interval) =>
  `from=${interval === 'day' ? '2000-01-01' : new Date(Date.now() - 86_400_000).toISOString()}`;

function expectSum(checks, what, { data, total }) {
  const isEqual =
    counts.every((name) => data.reduce((sum, row) => sum + row[name], 0) === total[name]) &&
    data.reduce((sum, row) => sum + run.pico(row.cost_usd), 0n) === run.pico(total.cost_usd);
  if (!isEqual) checks.check(`${what} add up to the total`, false);
}

/** What waits in the journal is in neither of them, and is settled at once in both, so figures that stay the same are compared. */
async function expectLedger(gateway, checks, after, account) {
  for (let attempt = 0; attempt < 100; attempt++) {
    const [before, spent, then] = [await total(gateway), await usageOf(gateway, account), await total(gateway)];
    if (JSON.stringify(before) !== JSON.stringify(then)) {
      await run.pause(200);
      continue;
    }
    const own = await ownTotals(gateway, account);
    const isEqual = own.every((one) => JSON.stringify(one) === JSON.stringify(before));
    checks.check(`${after}: ${before.requests} requests, ${before.cost_usd} USD in the activity`, isEqual);
    if (run.pico(before.cost_usd) !== spent)
      checks.check(`${after}: the ledger has ${spent} pico-dollars of usage`, false);
    return;
  }
  checks.check(`${after}: the activity comes to rest`, false);
}

const total = async (gateway) =>
  (await patiently(() => gateway.admin('GET', `/activity?${period('day')}&interval=day`))).total;

/** Sums have a time limit, which a machine that stands still for seconds exceeds. */
async function patiently(read) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read();
    } catch (error) {
      if (attempt === 20 || !/took longer than/.test(String(error))) throw error;
      await run.pause(500);
    }
  }
}

/** As the account itself reads it, by every group. There is no other account. */
async function ownTotals(gateway, { key }) {
  const totals = [];
  for (const group of ofOne) {
    const path = `/v1/activity?${period('day')}&interval=day&group_by=${group}`;
    totals.push((await patiently(() => ownActivity(gateway, path, key))).total);
  }
  return totals;
}

async function ownActivity(gateway, path, key) {
  const response = await fetch(`${gateway.url}${path}`, { headers: { authorization: `Bearer ${key}` } });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

async function usageOf(gateway, account) {
  const entries = (await gateway.ledger(account)).filter(({ kind }) => usageKinds.has(kind));
  return entries.reduce((sum, { amount_usd }) => sum - run.pico(amount_usd), 0n);
}

/** The costs by generation, and the statements that stand for pruned months. */
export async function billsOf(gateway, account) {
  const costs = new Map();
  const statements = [];
  let doubles = 0;
  for (const { kind, generation_id, amount_usd, note } of await gateway.ledger(account)) {
    if (!usageKinds.has(kind)) continue;
    const amount = -run.pico(amount_usd);
    if (kind === 'statement') statements.push({ note, amount });
    else if (costs.has(generation_id)) doubles++;
    else costs.set(generation_id, amount);
  }
  return { costs, doubles, statements };
}

/** The generations that the store has, each id once. */
export async function countRecords(gateway, { id }) {
  const [, ...lines] = await gateway.exported(`generations?format=csv&account=${id}`);
  return new Set(lines.map((line) => line.slice(0, line.indexOf(',')))).size;
}

/** One settlement as an older version writes it, without anything of the rollups. */
export async function settleAsOlder(client, { account, monthMs, rows }) {
  await client.query('begin');
  await client.query('select lodestone.lock_accounts($1)', [[account.id]]);
  await client.query(
    `insert into lodestone.generations (id, request_id, account_id, key_id, key_name, created_ms, requested_model, served_model, provider,
       locode, streamed, status, prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens, cost_pico, billed, latency_ms,
       providers_attempted, fallback_occurred, attempts)
     select lodestone.generation_ids_from(at) || lpad(i::text, 16, '0'), '', $1, 'key-of-before', 'before', at, '${run.pin}', '${run.pin}',
       'acme', 'defra', false, 200, 3, 4, 0, 0, 7, true, 10, '["acme"]', false, '[]'
     from (select i, $2::bigint + i * 1000 as at from generate_series(1, $3::integer) i) s`,
    [account.id, monthMs, rows],
  );
  await client.query('select lodestone.charge($1, $2, $3, $4)', [[account.id], [7 * rows], [], []]);
  await client.query('commit');
}

export async function isPruned(client, monthMs) {
  return (await client.query('select 1 from lodestone.pruned_months where month_ms = $1', [monthMs])).rowCount === 1;
}
