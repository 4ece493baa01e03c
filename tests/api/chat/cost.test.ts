import { describe, expect, it } from 'vitest';
import type { Json, TestAccount } from '../../support/client.js';
import { completion, json, sse, streamOf, usage } from '../../support/scripted-upstream.js';
import { model, route } from '../catalogue.js';
import { ask, generation, useGateway } from '../harness.js';

/** Prices in USD a million tokens, so a token costs a million times as many pico-dollars. */
const prices: Record<string, Json> = {
  cents: { input: 0.6, output: 0.8, cached_input: 0.3 },
  'no-cached': { input: 0.6, output: 0.8 },
  tiny: { input: 0.000001, output: 0.000002 },
  odd: { input: 0.123457, output: 1.999999, cached_input: 0.000001 },
  dear: { input: 75, output: 150 },
  'free-cache': { input: 1.1, output: 2.2, cached_input: 0 },
};
const priced = Object.entries(prices).map(([name, price]) => model(name, [route({ price })]));
const bench = useGateway({ models: priced });

const picoOf = (usd: unknown): bigint => BigInt(Math.round(Number(usd) * 1e6));

function costPico(price: Json, prompt: number, completionTokens: number, cached: number): bigint {
  const [input, output] = [picoOf(price.input), picoOf(price.output)];
  const cachedPrice = price.cached_input === undefined ? input : picoOf(price.cached_input);
  return BigInt(prompt - cached) * input + BigInt(cached) * cachedPrice + BigInt(completionTokens) * output;
}

function usd(pico: bigint): string {
  const digits = (pico < 0n ? -pico : pico).toString().padStart(13, '0');
  const fraction = digits.slice(-12).replace(/0+$/, '');
  return `${pico < 0n ? '-' : ''}${digits.slice(0, -12)}${fraction && `.${fraction}`}`;
}

const details = (cached: number) => (cached > 0 ? { prompt_tokens_details: { cached_tokens: cached } } : {});

async function costs(account: TestAccount, name: string, figures: Json, stream = false): Promise<Json> {
  const body = ask({ model: `acme/meta/${name}` });
  if (stream) {
    bench.upstream.enqueue(sse(streamOf(['a', 'b'], { usage: figures })));
    const reply = await bench.gateway.stream(
      { ...body, stream_options: { include_usage: true } },
      { key: account.key },
    );
    return reply.frames.at(-2)!.json as Json;
  }
  bench.upstream.enqueue(json(completion({ usage: figures })));
  const reply = await bench.gateway.chat(body, { key: account.key });
  expect(reply.status, reply.text).toBe(200);
  return reply.json;
}

const figures = [
  [9, 3, 0],
  [1, 0, 0],
  [0, 1, 0],
  [1_000, 1_000, 999],
  [123_457, 7_919, 100_003],
] as const;
const cases = Object.keys(prices).flatMap((name) => figures.map((row) => [name, ...row] as const));

describe('cost is tokens × prices, exact to the pico-dollar', () => {
  it.each(cases)('%s: %i prompt, %i completion, %i cached tokens', async (name, prompt, output, cached) => {
    const { gateway } = bench;
    const account = await gateway.createAccount({ credit: '10' });
    const body = await costs(account, name, usage(prompt, output, details(cached)));
    const expected = costPico(prices[name]!, prompt, output, cached);
    const [entry, credit] = await gateway.ledger(account.accountId);
    expect(entry).toMatchObject({
      kind: 'usage',
      amount_usd: usd(-expected),
      balance_usd: usd(10_000_000_000_000n - expected),
      generation_id: body.id,
    });
    expect(credit).toMatchObject({ kind: 'credit', amount_usd: '10', balance_usd: '10' });
    expect(await gateway.balance(account.accountId)).toBe(usd(10_000_000_000_000n - expected));
    expect((await generation(gateway, body.id as string, account.key)).cost_usd).toBe(usd(expected));
    expect((body.usage as Json).cost).toBe(Number(usd(expected)));
  });

  it.each(Object.keys(prices))('a stream of %s costs the same as a whole answer', async (name) => {
    const { gateway } = bench;
    const account = await gateway.createAccount({ credit: '10' });
    const body = await costs(account, name, usage(1_000, 77, details(501)), true);
    const expected = costPico(prices[name]!, 1_000, 77, 501);
    expect((body.usage as Json).cost).toBe(Number(usd(expected)));
    expect(await gateway.balance(account.accountId)).toBe(usd(10_000_000_000_000n - expected));
    expect((await gateway.ledger(account.accountId))[0]).toMatchObject({
      amount_usd: usd(-expected),
      generation_id: body.id,
    });
  });

  it('sums without drift: 200 answers of the smallest price are exactly 200 times one', async () => {
    const { gateway } = bench;
    const account = await gateway.createAccount({ credit: '1' });
    bench.upstream.reply(json(completion({ usage: usage(1, 0) })));
    const calls = Array.from({ length: 200 }, () =>
      gateway.chat(ask({ model: 'acme/meta/tiny' }), { key: account.key }),
    );
    for (const reply of await Promise.all(calls)) expect(reply.status).toBe(200);
    expect(await gateway.balance(account.accountId)).toBe('0.9999999998');
    const ledger = await gateway.ledger(account.accountId);
    expect(ledger).toHaveLength(201);
    expect(ledger[0]!.balance_usd).toBe('0.9999999998');
    expect(new Set(ledger.map(({ generation_id }) => generation_id)).size).toBe(201);
  });

  it('an answer of cost 0 has its ledger entry too, one for each generation', async () => {
    const { gateway } = bench;
    const account = await gateway.createAccount();
    const body = await costs(account, 'free', usage(9, 3));
    expect((await gateway.ledger(account.accountId))[0]).toMatchObject({ amount_usd: '0', generation_id: body.id });
  });

  it('the last cumulative figure of a stream counts, not the sum of them', async () => {
    const { gateway } = bench;
    const account = await gateway.createAccount({ credit: '10' });
    const frames = streamOf(['a', 'b', 'c'], { usage: usage(9, 3) }).map((frame, index) =>
      index < 4 ? { ...frame, usage: usage(9, index) } : frame,
    );
    bench.upstream.enqueue(sse(frames));
    await gateway.stream(ask({ model: 'acme/meta/cents' }), { key: account.key });
    expect(await gateway.balance(account.accountId)).toBe(usd(10_000_000_000_000n - costPico(prices.cents!, 9, 3, 0)));
  });
});
