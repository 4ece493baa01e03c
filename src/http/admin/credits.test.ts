import { beforeEach, describe, expect, it } from 'vitest';
import { type HttpFixture, httpFixture } from '../../../tests/support/http-fixture.js';

let fixture: HttpFixture;

beforeEach(async () => {
  fixture = await httpFixture();
});

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

function call(method: Method, path: string, payload?: object) {
  return fixture.app.inject({ method, url: `/admin/v1${path}`, headers: fixture.asAdmin, ...(payload && { payload }) });
}

const ofAccount = (path: string) => `/accounts/${fixture.account.id}${path}`;

describe('credits and ledger', () => {
  it('201 with the exact amount and the new balance; negative amounts debit', async () => {
    const credit = await call('POST', ofAccount('/credits'), { amount_usd: '10.00', note: 'welcome' });
    expect(credit.statusCode).toBe(201);
    expect(credit.json()).toMatchObject({
      kind: 'credit',
      amount_usd: '10',
      balance_usd: '10',
      generation_id: null,
      note: 'welcome',
    });
    const debit = await call('POST', ofAccount('/credits'), { amount_usd: '-0.000000000001' });
    expect(debit.json()).toMatchObject({
      kind: 'adjustment',
      amount_usd: '-0.000000000001',
      balance_usd: '9.999999999999',
    });
    expect((await call('GET', ofAccount(''))).json().balance_usd).toBe('9.999999999999');
    const ledger = (await call('GET', ofAccount('/ledger'))).json();
    expect(ledger).toMatchObject({ object: 'list', has_more: false, data: [debit.json(), credit.json()] });
  });

  it('cuts the ledger at limit and says so', async () => {
    for (const amount_usd of ['1', '2']) await call('POST', ofAccount('/credits'), { amount_usd });
    expect((await call('GET', ofAccount('/ledger?limit=1'))).json()).toMatchObject({
      has_more: true,
      data: [{ amount_usd: '2' }],
    });
    expect((await call('GET', ofAccount('/ledger?limit=0'))).statusCode).toBe(400);
  });

  it.each(['0', '0.00', 'ten', '', '1e3', '1.0000000000001', '+1', ' 1', '١', 'NaN'])(
    '400, param amount_usd, for %j',
    async (amount_usd) => {
      const answer = await call('POST', ofAccount('/credits'), { amount_usd });
      expect([answer.statusCode, answer.json().error.param]).toEqual([400, 'amount_usd']);
    },
  );

  it('400 for a number: an amount is text, so that it is exact', async () => {
    expect((await call('POST', ofAccount('/credits'), { amount_usd: 10 })).json().error.message).toContain('as text');
  });
});
