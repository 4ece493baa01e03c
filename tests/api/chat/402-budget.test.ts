import { describe, expect, it } from 'vitest';
import { completion, json, usage } from '../../support/scripted-upstream.js';
import { addProject } from '../budget/project.js';
import { model, route } from '../catalogue.js';
import { ask, expectError, expectNothingSpent, useGateway } from '../harness.js';

const bench = useGateway({ models: [model('dear', [route({ price: { input: 1_000, output: 1_000 } })])] });
const answer = json(completion({ usage: usage(9, 1) }));
/** Costs 0.01 USD, which is less than it holds. */
const request = ask({ model: 'acme/meta/dear', max_tokens: 1 });
const exceeded = (...says: (string | RegExp)[]) => ({
  ...{ status: 402, type: 'invalid_request_error', code: 'budget_exceeded', says },
});

describe('402 budget_exceeded', () => {
  it('by the account, the project and then the cap of the key, after the balance and before the body is looked at', async () => {
    const { gateway } = bench;
    const account = await gateway.createAccount({ credit: null });
    const daily = { limitPico: '0', period: 'daily', alertAt: [] };
    const { id, token } = await addProject(gateway, account.accountId, { name: 'search', budget: daily });
    await gateway.restart();
    const patch = (fields: object) => gateway.admin('PATCH', `/accounts/${account.accountId}`, fields);
    await patch({ budget: { limit_usd: '0' } });
    const refused = (body: object = request, key = token) =>
      expectNothingSpent(bench, account, () => gateway.chat(body, { key }));
    expect((await refused()).json).toMatchObject({ error: { code: 'insufficient_credits' } });
    await gateway.admin('POST', `/accounts/${account.accountId}/credits`, { amount_usd: '1' });
    expectError(await refused(), exceeded('The account has a budget of 0 USD (period: monthly)', '0 USD are held'));
    expectError(await refused({ messages: 'no list' }), exceeded('The account'));
    await patch({ budget: null });
    expectError(await refused(), exceeded(`The project "search" (${id})`, /ends at \d{4}-\d\d-\d\dT00:00:00.000Z/));
    expectError(await refused({ messages: 'no list' }), exceeded(`The project "search" (${id})`));
  });

  it('many requests at once spend no more of a budget than one of them beyond it, and the rest later', async () => {
    const { gateway, upstream } = bench;
    upstream.reply(answer);
    const account = await gateway.createAccount();
    await gateway.admin('PATCH', `/accounts/${account.accountId}`, { budget: { limit_usd: '0.025', period: 'never' } });
    const replies = await Promise.all(Array.from({ length: 40 }, () => gateway.chat(request, { key: account.key })));
    const outcomes = replies.map(({ status, json: body }) => (status === 200 ? 'served' : body.error.code));
    expect(new Set(outcomes)).toEqual(new Set(['served', 'budget_exceeded']));
    while ((await gateway.chat(request, { key: account.key })).status === 200);
    expect(await gateway.balance(account.accountId)).toBe('9.97');
    // A raised limit holds for the next request, a count of tokens passes without any, and nobody else is affected.
    await gateway.admin('PATCH', `/accounts/${account.accountId}`, { budget: { limit_usd: '0.031', period: 'never' } });
    expect((await gateway.chat(request, { key: account.key })).status).toBe(200);
    expectError(await gateway.chat(request, { key: account.key }), exceeded('never ends', '0.04 USD are spent'));
    const other = await gateway.createAccount();
    expect((await gateway.chat(request, { key: other.key })).status).toBe(200);
  });
});
