import { describe, expect, it } from 'vitest';
import { completion, json, usage } from '../../support/scripted-upstream.js';
import { ask, badRequest, expectError, useGateway } from '../harness.js';

const bench = useGateway();
const credit = (id: string, body: unknown) => bench.gateway.admin('POST', `/accounts/${id}/credits`, body);

describe('POST /admin/v1/accounts/{id}/credits', () => {
  it('201 with the ledger entry and the new balance', async () => {
    const { accountId } = await bench.gateway.createAccount({ credit: null });
    const reply = await credit(accountId, { amount_usd: '10.00', note: 'welcome' });
    expect(reply.status).toBe(201);
    expect(reply.json).toEqual({
      id: expect.any(String),
      created_at: expect.stringMatching(/Z$/),
      kind: 'credit',
      amount_usd: '10',
      balance_usd: '10',
      generation_id: null,
      note: 'welcome',
    });
  });

  it('negative amounts debit, below zero too', async () => {
    const { gateway } = bench;
    const { accountId } = await gateway.createAccount({ credit: '1' });
    const reply = await credit(accountId, { amount_usd: '-2.5' });
    expect([reply.status, reply.json]).toEqual([
      201,
      expect.objectContaining({ kind: 'adjustment', amount_usd: '-2.5', balance_usd: '-1.5' }),
    ]);
    expect(await gateway.balance(accountId)).toBe('-1.5');
  });

  it('keeps every pico-dollar, however large the amount', async () => {
    const { gateway } = bench;
    const { accountId } = await gateway.createAccount({ credit: null });
    await credit(accountId, { amount_usd: '123456789.000000000001' });
    await credit(accountId, { amount_usd: '0.999999999999' });
    expect(await gateway.balance(accountId)).toBe('123456790');
    await credit(accountId, { amount_usd: '-123456789.999999999999' });
    expect(await gateway.balance(accountId)).toBe('0.000000000001');
  });

  it.each([
    '0',
    '0.00',
    '-0',
    'ten',
    '',
    '1e3',
    '1.0000000000001',
    '+1',
    ' 1',
    '1,5',
    'NaN',
    'Infinity',
    '1'.repeat(40),
  ])('400 for %j, param amount_usd', async (amount_usd) => {
    const { gateway } = bench;
    const { accountId } = await gateway.createAccount({ credit: '7' });
    expectError(await credit(accountId, { amount_usd }), badRequest('amount_usd'));
    expect(await gateway.balance(accountId)).toBe('7');
  });

  it.each([[{}], [{ amount_usd: 10 }], [{ amount_usd: null }]])('400 for %j: an amount is text', async (body) => {
    const { accountId } = await bench.gateway.createAccount({ credit: null });
    expectError(await credit(accountId, body), badRequest('amount_usd'));
  });

  it('50 at once are all counted', async () => {
    const { gateway } = bench;
    const { accountId } = await gateway.createAccount({ credit: null });
    await Promise.all(Array.from({ length: 50 }, () => credit(accountId, { amount_usd: '0.000000000003' })));
    expect(await gateway.balance(accountId)).toBe('0.00000000015');
    expect(await gateway.ledger(accountId)).toHaveLength(50);
  });
});

describe('GET /admin/v1/accounts/{id}/ledger', () => {
  it('is newest first; each balance is the sum of what came before; usage is negative and names its generation', async () => {
    const { gateway, upstream } = bench;
    const { accountId, key } = await gateway.createAccount({ credit: '1' });
    upstream.reply(json(completion({ usage: usage(100, 10) })));
    const first = await gateway.chat(ask(), { key });
    await credit(accountId, { amount_usd: '-0.5', note: 'correction' });
    const second = await gateway.chat(ask(), { key });
    await credit(accountId, { amount_usd: '2' });
    const entries = await gateway.ledger(accountId);
    expect(
      entries.map(({ kind, amount_usd, balance_usd, generation_id, note }) => ({
        kind,
        amount_usd,
        balance_usd,
        generation_id,
        note,
      })),
    ).toEqual([
      { kind: 'credit', amount_usd: '2', balance_usd: '2.499864', generation_id: null, note: null },
      { kind: 'usage', amount_usd: '-0.000068', balance_usd: '0.499864', generation_id: second.json.id, note: null },
      { kind: 'adjustment', amount_usd: '-0.5', balance_usd: '0.499932', generation_id: null, note: 'correction' },
      { kind: 'usage', amount_usd: '-0.000068', balance_usd: '0.999932', generation_id: first.json.id, note: null },
      { kind: 'credit', amount_usd: '1', balance_usd: '1', generation_id: null, note: null },
    ]);
    expect(await gateway.balance(accountId)).toBe('2.499864');
    expect(new Set(entries.map(({ id }) => id)).size).toBe(5);
  });

  it('has no entry for failures', async () => {
    const { gateway, upstream } = bench;
    const { accountId, key } = await gateway.createAccount({ credit: null });
    await credit(accountId, { amount_usd: '1' });
    upstream.reply(json({ error: { message: 'boom' } }, { status: 500 }));
    for (let count = 0; count < 3; count++) expect((await gateway.chat(ask(), { key })).status).toBe(503);
    expect(await gateway.ledger(accountId)).toHaveLength(1);
  });

  it('is a list, cut at `limit`', async () => {
    const { gateway } = bench;
    const { accountId } = await gateway.createAccount({ credit: '1' });
    await credit(accountId, { amount_usd: '2' });
    const reply = await gateway.admin('GET', `/accounts/${accountId}/ledger?limit=1`);
    expect(reply.json).toMatchObject({ object: 'list', has_more: true, data: [{ amount_usd: '2', balance_usd: '3' }] });
    expectError(await gateway.admin('GET', `/accounts/${accountId}/ledger?limit=0`), badRequest('limit'));
  });
});
