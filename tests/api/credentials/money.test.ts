/** What answers with own credentials cost under each kind of fee: every record of a request says the same, whatever API it came by. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Json, Reply } from '../../support/client.js';
import { adminToken } from '../../support/gateway-files.js';
import { proofOf, runCommand, verifyReceipt } from '../../support/proofs.js';
import { completion, json, sse, streamOf, usage as usageOf } from '../../support/scripted-upstream.js';
import { makeSecretsKey } from '../../support/secrets-key.js';
import { ask, messages, useGateway } from '../harness.js';
import { type Manager, managerOf } from '../projects/manager.js';

const own = 'own-key-of-a-payer-0123456789';
const keyed = 'keyed/meta/llama/defra';
/** 9 × 0.6 + 3 × 0.8 USD a million. */
const listedPico = 7_800_000n;
const picoOf = (usd: unknown) => BigInt(Math.round(Number(usd) * 1e12));

function useFee(fee: Json) {
  const bench = useGateway({
    env: { KEYED_API_KEY: 'the-key-of-the-operator' },
    config: {
      secrets: { key_file: makeSecretsKey() },
      own_keys: fee,
      limits: { key_requests_per_minute: 10_000 },
    } as Json as never,
  });
  return {
    bench,
    async payer({
      credit = '1',
      key: fields = {},
      credential = {},
    }: {
      credit?: string | null;
      key?: Json;
      credential?: Json;
    }) {
      const account = await bench.gateway.createAccount({ credit });
      const manager = await managerOf(bench, {}, account.accountId);
      const body = { provider: 'keyed', name: 'ours', secret: { api_key: own }, ...credential };
      expect((await manager.call('POST', '/credentials', body)).status).toBe(201);
      const made = await manager.call('POST', '/keys', { name: 'used', ...fields });
      return { ...manager, key: made.json.token as string, keyId: made.json.id as string };
    },
    post: ({ key }: Manager, path: string, body: unknown): Promise<Reply> =>
      bench.gateway.call('POST', path, body, { key }),
    sentKeys: () => bench.upstream.calls.map(({ headers }) => String(headers.authorization).replace('Bearer ', '')),
  };
}

const fees = [
  { title: 'no fee', fee: {}, pico: 0n },
  { title: 'a fee in percent', fee: { fee_percent: '12.5' }, pico: 975_000n },
  { title: 'a fee of half a pico-dollar and more, rounded up', fee: { fee_percent: '0.00000642' }, pico: 1n },
  { title: 'a fee below half a pico-dollar, rounded down', fee: { fee_percent: '0.00000641' }, pico: 0n },
  { title: 'a fee for each request', fee: { fee_per_request_usd: '0.0003' }, pico: 300_000_000n },
  { title: 'both', fee: { fee_percent: '10', fee_per_request_usd: '0.001' }, pico: 1_000_780_000n },
];

describe.each(fees)('with $title', ({ title, fee, pico }) => {
  const { bench, payer, post } = useFee(fee);

  /** By API: sends a request, and reads the answer. */
  const apis: Record<string, (manager: Manager) => Promise<Json>> = {
    async chat(manager) {
      return (await post(manager, '/v1/chat/completions', ask({ model: keyed }))).json;
    },
    async stream({ key }) {
      const reply = await bench.gateway.stream(ask({ model: keyed, stream_options: { include_usage: true } }), { key });
      const frames = reply.text.split('\n').filter((line) => line.startsWith('data: {'));
      return frames.map((line) => JSON.parse(line.slice(6))).findLast(({ usage }) => usage);
    },
    async messages(manager) {
      return (await post(manager, '/v1/messages', { model: keyed, messages, max_tokens: 20 })).json;
    },
    async responses(manager) {
      return (await post(manager, '/v1/responses', { model: keyed, input: 'Hello' })).json;
    },
  };

  const counts = [[true, listedPico] as const, [false, pico] as const];
  it.each(title === 'both' ? counts : counts.slice(0, 1))(
    'all records agree, and budgets and keys count the list price: %s',
    async (countsOwn, countedPico) => {
      const manager = await payer({ key: { limit_usd: '1' } });
      const settings = { budget: { limit_usd: '1', period: 'daily' }, budgets_count_own_keys: countsOwn };
      expect((await bench.gateway.admin('PATCH', `/accounts/${manager.accountId}`, settings)).status).toBe(200);
      let count = 0n;
      for (const [api, send] of Object.entries(apis)) {
        bench.upstream.enqueue(
          api === 'stream' ? sse(streamOf(['a', 'b'], { usage: usageOf(9, 3) })) : json(completion()),
        );
        const answer = (await send(manager)) as { id: string; usage: Json; router_metadata: Json };
        count++;
        const { usage, router_metadata: metadata } = answer;
        expect(usage, JSON.stringify(answer)).toMatchObject({ is_byok: true });
        const feeInDetails = (usage.cost_details as Json).fee;
        expect([usage.cost, feeInDetails, usage.notional_cost].map(picoOf)).toEqual([pico, pico, listedPico]);
        expect(usage.notional_cost_details).toEqual({ input: '0.0000054', output: '0.0000024' });
        const record = await bench.gateway.call('GET', `/v1/generation?id=${answer.id}`, undefined, {
          key: manager.key,
        });
        const { cost_usd, notional_usd, is_byok, credential } = record.json.data;
        expect([picoOf(cost_usd), picoOf(notional_usd), is_byok]).toEqual([pico, listedPico, true]);
        expect(credential).toEqual(metadata.credential);
        const ledger = await bench.gateway.ledger(manager.accountId);
        const entries = ledger.filter(({ generation_id }) => generation_id === answer.id);
        expect(entries).toMatchObject([{ kind: 'usage' }]);
        expect(picoOf(entries[0]!.amount_usd)).toBe(-pico);
        const proof = await proofOf(bench.gateway, answer.id, { key: manager.key });
        const receipt = JSON.parse(proof.receipt);
        expect([picoOf(receipt.cost_usd), picoOf(receipt.notional_usd)]).toEqual([pico, listedPico]);
        expect(receipt.credential).toEqual(metadata.credential);
        expect((await verifyReceipt(proof)).code).toBe(0);
      }
      await checkExports(bench, manager.accountId, { pico, count });
      const { json: account } = await bench.gateway.admin('GET', `/accounts/${manager.accountId}`);
      expect(picoOf(account.balance_usd)).toBe(1_000_000_000_000n - count * pico);
      const { json: budget } = await bench.gateway.call('GET', '/v1/budget', undefined, { key: manager.key });
      for (const part of ['key', 'project', 'account'])
        expect(picoOf(budget[part].spent_usd), part).toBe(count * countedPico);
      const { json: key } = await manager.call('GET', `/keys/${manager.keyId}`);
      expect(picoOf(key.usage_usd)).toBe(count * countedPico);
      expect(picoOf(key.limit_remaining_usd)).toBe(1_000_000_000_000n - count * countedPico);
      expect((await bench.gateway.admin('GET', '/storage/check')).json).toMatchObject({ ok: true, faults: [] });
    },
  );
});

/** The fee is the bill of each exported line, and the list price is its notional cost. */
async function checkExports(
  { gateway }: ReturnType<typeof useGateway>,
  accountId: string,
  { pico, count }: { pico: bigint; count: bigint },
): Promise<void> {
  const query = `/export/generations?account=${accountId}`;
  const lines = (await gateway.admin('GET', query)).text.trim().split('\n');
  expect(lines).toHaveLength(Number(count));
  for (const line of lines) {
    const { cost_usd, cost_details, notional_usd, notional_cost_details, is_byok } = JSON.parse(line);
    expect([picoOf(cost_usd), picoOf(JSON.parse(cost_details).fee)]).toEqual([pico, pico]);
    expect([picoOf(notional_usd), is_byok]).toEqual([listedPico, true]);
    expect(JSON.parse(notional_cost_details)).toEqual({ input: '0.0000054', output: '0.0000024' });
  }
  const csv = (await gateway.admin('GET', `${query}&format=csv`)).text;
  expect(csv.split('"{""input"":""0.0000054"",""output"":""0.0000024""}"')).toHaveLength(Number(count) + 1);
}

describe('the balance', () => {
  const free = useFee({});
  const dear = useFee({ fee_percent: '1' });

  it('is not needed for an own credential without a fee, and each request has an entry of 0', async () => {
    const manager = await free.payer({ credit: null });
    free.bench.upstream.enqueue(json(completion()));
    const reply = await free.post(manager, '/v1/chat/completions', ask({ model: keyed }));
    expect(reply.status, reply.text).toBe(200);
    expect(await free.bench.gateway.ledger(manager.accountId)).toMatchObject([
      { kind: 'usage', amount_usd: '0', generation_id: reply.json.id },
    ]);
  });

  it('is needed for a fee', async () => {
    const manager = await dear.payer({ credit: null });
    const reply = await dear.post(manager, '/v1/chat/completions', ask({ model: keyed }));
    expect([reply.status, reply.json.error.code]).toEqual([402, 'insufficient_credits']);
    expect(dear.bench.upstream.calls).toHaveLength(0);
  });

  it('is looked at after the body: one that is not valid is a 400', async () => {
    const manager = await free.payer({ credit: null });
    const reply = await free.post(manager, '/v1/chat/completions', { model: keyed, messages: 'none' });
    expect(reply.status).toBe(400);
    const unknown = await free.post(manager, '/v1/chat/completions', ask({ model: 'keyed/meta/nothing/defra' }));
    expect(unknown.status).toBe(404);
  });

  it('rules the operator’s candidates out where it is empty, and 402 where nothing else is left', async () => {
    const manager = await free.payer({ credit: null, credential: { use: 'last' } });
    const others = await free.post(manager, '/v1/chat/completions', ask());
    expect([others.status, others.json.error.code], others.text).toEqual([402, 'insufficient_credits']);
    free.bench.upstream.enqueue(json(completion()), json(completion()));
    for (const model of [keyed, 'auto/meta/llama']) {
      const reply = await free.post(manager, '/v1/chat/completions', ask({ model }));
      expect(reply.json.router_metadata?.credential, reply.text).toMatchObject({ owner: 'account' });
    }
    expect(free.sentKeys()).toEqual([own, own]);
    const first = await free.payer({ credit: null, credential: { use: 'first' } });
    free.bench.upstream.enqueue(json({ error: { message: 'no' } }, { status: 401 }));
    const refused = await free.post(first, '/v1/chat/completions', ask({ model: keyed }));
    expect([refused.status, refused.json.error.code], refused.text).toEqual([503, 'provider_error']);
    expect(free.sentKeys()).toEqual([own, own, own]);
  });

  it('rules them out of a chain too, where it is empty', async () => {
    const manager = await free.payer({ credit: null });
    free.bench.upstream.enqueue(json({ error: { message: 'no' } }, { status: 500 }), json(completion()));
    const fallback = { models: ['acme/meta/llama', 'acme/meta/other'] };
    const reply = await free.post(manager, '/v1/chat/completions', ask({ model: keyed, fallback }));
    expect([reply.status, reply.json.error.code], reply.text).toEqual([503, 'provider_error']);
    expect(free.sentKeys()).toEqual([own]);
    expect(await free.bench.gateway.ledger(manager.accountId)).toEqual([]);
  });

  it('leaves the customer’s candidates of a chain where it does not admit the operator’s', async () => {
    const manager = await free.payer({ credit: '0.00001', credential: { use: 'last' } });
    await free.bench.gateway.admin('PATCH', `/accounts/${manager.accountId}`, { overdraft: 'bounded' });
    free.bench.upstream.enqueue(
      json(completion(), { delayMs: 1_000 }),
      json({ error: { message: 'no' } }, { status: 500 }),
      json(completion()),
    );
    const holding = free.post(manager, '/v1/chat/completions', ask());
    await free.bench.upstream.waitForCalls(1);
    const fallback = { models: ['acme/meta/other', 'auto/meta/llama'] };
    const reply = await free.post(manager, '/v1/chat/completions', ask({ model: keyed, fallback }));
    expect(reply.json.router_metadata?.credential, reply.text).toMatchObject({ owner: 'account' });
    expect(free.sentKeys().slice(1)).toEqual([own, own]);
    expect((await holding).status).toBe(200);
  });

  it('a cap counts the list price of the own credential, across a restart too', async () => {
    const manager = await free.payer({ key: { limit_usd: '0.000012' } });
    free.bench.upstream.reply(json(completion()));
    const status = async () => {
      const reply = await free.post(manager, '/v1/chat/completions', ask({ model: keyed }));
      return reply.json.error?.code ?? reply.status;
    };
    expect([await status(), await status(), await status()]).toEqual([200, 200, 'key_limit_exceeded']);
    await free.bench.gateway.restart();
    expect(await status()).toBe('key_limit_exceeded');
    await free.bench.gateway.admin('PATCH', `/accounts/${manager.accountId}`, { budgets_count_own_keys: false });
    const { json: key } = await manager.call('GET', `/keys/${manager.keyId}`);
    expect(key.usage_usd).toBe('0.0000156');
  });
});

describe('`lodestone reconcile`', () => {
  const { bench, payer } = useFee({ fee_percent: '10' });

  it('tells apart what the operator’s credentials have served, those of customers, and one of them', async () => {
    const [one, two] = [await payer({}), await payer({})];
    const operators = await bench.gateway.createAccount();
    bench.upstream.reply(json(completion()));
    for (const { key } of [one, two, two, operators, operators, operators])
      expect((await bench.gateway.chat(ask({ model: keyed }), { key })).status).toBe(200);
    const { json: made } = await one.call('GET', '/credentials');
    const day = new Date().toISOString().slice(0, 10);
    const folder = mkdtempSync(join(tmpdir(), 'lodestone-invoice-'));
    const reconcile = async (requests: number, more: string[]) => {
      const invoice = join(folder, `${requests}.csv`);
      const cost = (Number(listedPico) / 1e12) * requests;
      writeFileSync(
        invoice,
        `day,model,in,out,usd\n${day},upstream-model,${9 * requests},${3 * requests},${cost.toFixed(7)}\n`,
      );
      const columns = 'day=day,model=model,input=in,output=out,cost=usd';
      const connection = ['--url', bench.gateway.url, '--admin-token', adminToken];
      const argv = [
        'reconcile',
        '--provider',
        'keyed',
        '--invoice',
        invoice,
        '--columns',
        columns,
        ...more,
        ...connection,
      ];
      return runCommand(argv);
    };
    expect(await reconcile(3, [])).toMatchObject({ code: 0 });
    expect(await reconcile(3, ['--credential', 'own'])).toMatchObject({ code: 0 });
    expect(await reconcile(1, ['--credential', made.data[0].id])).toMatchObject({ code: 0 });
    const wrong = await reconcile(2, ['--credential', made.data[0].id]);
    expect(wrong.code, wrong.out).toBe(1);
  });
});
