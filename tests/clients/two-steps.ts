/** The two steps of a conversation around any client: the upstream's answers, the tools, and the expected result. */
import { expect } from 'vitest';
import { playStream, playWhole } from '../dialects/rig.js';
import type { Json } from '../support/client.js';
import { saidIn, type ToolCall, type TwoSteps, usages } from './conversations.js';
import type { DialectGateway, Spoken } from './dialect-gateway.js';
import { expectHeard } from './heard.js';

/** Of `usages`, at 0.60, 0.80 and, cached, 0.30 USD a million tokens. */
const costs = ['0.0000336', '0.0004218'];
const balanceLeft = '9.9995446';

/** Lets the upstream say both steps, whole or streamed. */
export function enqueueSteps({ upstream }: DialectGateway, { fixture }: Spoken, steps: TwoSteps, streamed: boolean) {
  const play = streamed ? playStream : playWhole;
  for (const said of saidIn(steps)) upstream.enqueue(play(fixture, said));
}

/** The tools as a client runs them: each gives what the conversation says, and keeps what it was given. */
export function toolRuns({ calls }: TwoSteps) {
  const runs: { name: string; input: unknown }[] = [];
  const run = (name: ToolCall['name']) => (input: unknown) => {
    runs.push({ name, input });
    return calls.find((call) => call.name === name)!.result;
  };
  return {
    run,
    expectRun() {
      expect(runs).toEqual(calls.map(({ name, input }) => ({ name, input })));
    },
  };
}

/** After both steps: what the upstream heard, in its own format, and what the account paid, to the last digit. */
export async function expectBoth(rig: DialectGateway, spoken: Spoken, steps: TwoSteps, streamed: boolean) {
  const path = spoken.fixture.paths[streamed ? 'stream' : 'whole'];
  expect(rig.upstream.calls.map(({ method, path }) => [method, path])).toEqual([
    ['POST', path],
    ['POST', path],
  ]);
  const [first, second] = rig.upstream.calls.map(({ json }) => json as Json);
  expectHeard(spoken.fixture.dialect, first!, { ...steps, calls: [], text: [] });
  expectHeard(spoken.fixture.dialect, second!, steps);
  await expectPaid(rig, spoken, streamed);
}

async function expectPaid({ gateway, account }: DialectGateway, { pin }: Spoken, streamed: boolean) {
  const entries = (await gateway.ledger(account.accountId)).filter(({ kind }) => kind === 'usage');
  expect(entries.map(({ amount_usd }) => amount_usd).sort()).toEqual(costs.map((cost) => `-${cost}`).sort());
  expect(await gateway.balance(account.accountId)).toBe(balanceLeft);
  const history = await gateway.call('GET', '/v1/generations', undefined, { key: account.key });
  const [second, first] = history.json.data as Json[];
  expect(history.json.data).toHaveLength(2);
  const record = { served_model: pin, streamed, status: 200, usage_source: 'provider' };
  const [figures, more] = usages;
  expect(first).toMatchObject({
    ...record,
    ...{ finish_reason: 'tool_calls', cost_usd: costs[0], prompt_tokens: figures.prompt },
  });
  expect(second).toMatchObject({
    ...record,
    ...{ finish_reason: 'stop', cost_usd: costs[1], cached_tokens: more.cached, completion_tokens: more.completion },
  });
  expect(entries.map(({ generation_id }) => generation_id).sort()).toEqual([first!.id, second!.id].sort());
}
