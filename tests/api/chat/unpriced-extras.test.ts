/** A tier or a tool without a price that a provider chose by itself: billed by the rules, and the operator learns of it once an hour. */
import { beforeEach, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.js';
import type { Json, TestAccount } from '../../support/client.js';
import { ManualClock } from '../../support/manual-clock.js';
import { completion, json, sse, streamOf, usage } from '../../support/scripted-upstream.js';
import { model, route } from '../catalogue.js';
import { ask, llama, useGateway } from '../harness.js';

const warnings: { fields: Json; message: string }[] = [];
const clock = new ManualClock();
const priced = 'acme/meta/priced/defra';
const price = { input: 0.6, output: 0.8, tiers: { flex: { input: 0.3, output: 0.4 } }, tools: { web_search: 0.01 } };
const bench = useGateway({
  clock,
  logger: {
    ...silentLogger,
    warn: (fields: object, message: string) => void warnings.push({ fields: fields as Json, message }),
  },
  models: [model('priced', [route({ price })])],
});
let account: TestAccount;
beforeEach(async () => {
  account = await bench.gateway.createAccount();
  clock.advance(3_600_000);
  warnings.length = 0;
});

async function answer(figures: Json, id = llama, stream = false): Promise<void> {
  const given = usage(9, 3, figures);
  bench.upstream.reply(stream ? sse(streamOf(['Hello'], { usage: given })) : json({ ...completion(), usage: given }));
  const body = ask({ model: id });
  const { key } = account;
  const reply = await (stream ? bench.gateway.stream(body, { key }) : bench.gateway.chat(body, { key }));
  expect(reply.status, reply.text).toBe(200);
}

it.each<[string, Json, Json]>([
  ['tier', { service_tier: 'priority' }, { tier: 'priority' }],
  [
    'tool',
    { server_tool_use: { web_search_requests: 1, web_fetch_requests: 2 } },
    { tools: expect.arrayContaining(['web_fetch']) },
  ],
])('a %s without a price is one warning an hour for each route, with its name', async (kind, figures, named) => {
  const told = () => warnings.filter(({ message }) => message.includes(`a ${kind} without a price`));
  await answer(figures);
  await answer(figures);
  await answer(figures, llama, true);
  expect(told().map(({ fields }) => fields)).toEqual([expect.objectContaining({ route: llama, ...named })]);
  expect(told()[0]!.message).toContain('to the price of the route');
  await answer(figures, priced);
  expect(told().map(({ fields }) => fields.route)).toEqual([llama, priced]);
  clock.advance(3_600_000 - 1);
  await answer(figures);
  expect(told()).toHaveLength(2);
  clock.advance(1);
  await answer(figures);
  expect(told()).toHaveLength(3);
});

it('a tier and a tool with a price, and the ordinary tier, are no warning; of several tools only those without are named', async () => {
  await answer({ service_tier: 'flex', server_tool_use: { web_search_requests: 1 } }, priced);
  await answer({ service_tier: 'default' });
  expect(warnings).toEqual([]);
  await answer({ server_tool_use: { web_search_requests: 1, web_fetch_requests: 2 } }, priced);
  expect(warnings.map(({ fields }) => fields.tools)).toEqual([['web_fetch']]);
});
