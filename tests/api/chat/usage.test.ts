/** Which usage of a provider is billed, which is billed and reported to the operator, and which is refused. */
import { beforeEach, describe, expect, it } from 'vitest';
import { scrape, since } from '../../observability/scrape.js';
import type { Json, StreamReply, TestAccount } from '../../support/client.js';
import { chunk, completion, json, sse, streamOf, usage } from '../../support/scripted-upstream.js';
import { model, route } from '../catalogue.js';
import { ask, generation, llama, useGateway } from '../harness.js';

interface LogLine {
  fields: Json;
  message: string;
}
const warnings: LogLine[] = [];
const silent = () => {};
const logger = {
  debug: silent,
  info: silent,
  error: silent,
  warn: (fields: object, message: string) => void warnings.push({ fields: fields as Json, message }),
};
const hidden = 'acme/meta/hidden/defra';
const bench = useGateway({
  logger,
  models: [
    model('hidden', [route({ hidden_reasoning: true })]),
    { ...model('wide', [route()]), context_window: 4_000_000 },
  ],
});

let account: TestAccount;
beforeEach(async () => {
  warnings.length = 0;
  account = await bench.gateway.createAccount({ credit: '100000' });
});

const pico = (prompt: number, completionTokens: number, cached = 0) =>
  BigInt(prompt - cached) * 600_000n + BigInt(cached) * 300_000n + BigInt(completionTokens) * 800_000n;

/** What the account was billed, in pico-dollars, one figure for each ledger entry of usage. */
async function billedPico(): Promise<bigint[]> {
  const entries = (await bench.gateway.ledger(account.accountId)) as unknown as { kind: string; amount_usd: string }[];
  return entries
    .filter(({ kind }) => kind === 'usage')
    .map(({ amount_usd }) => {
      const [whole, fraction = ''] = amount_usd.replace('-', '').split('.');
      return BigInt(whole + fraction.padEnd(12, '0'));
    });
}

async function answered(
  figures: unknown,
  stream: boolean,
  id = llama,
): Promise<{ reply: StreamReply | { json: Json }; added: Record<string, number> }> {
  const { gateway, upstream } = bench;
  upstream.reply(
    stream
      ? sse([...streamOf(['Hel', 'lo'], { usage: null }), chunk({ choices: [], extra: { usage: figures } })])
      : json({ ...completion(), usage: figures }),
  );
  const before = await scrape(gateway);
  const body = ask({ model: id });
  const reply = stream
    ? await gateway.stream(body, { key: account.key })
    : await gateway.chat(body, { key: account.key });
  expect(reply.status, reply.text).toBe(200);
  expect(upstream.calls).toHaveLength(1);
  const added = since(before, await scrape(gateway));
  const oddities = Object.entries(added).filter(([name]) => name.startsWith('lodestone_usage_oddities_total'));
  return { reply, added: Object.fromEntries(oddities) };
}

const odd = (oddity: string, id = llama) => `lodestone_usage_oddities_total{route="${id}",oddity="${oddity}"}`;
const grok = {
  prompt_tokens: 12,
  completion_tokens: 2,
  total_tokens: 334,
  completion_tokens_details: { reasoning_tokens: 320 },
};
const google = { prompt_tokens: 35, completion_tokens: 12, total_tokens: 109 };

describe.each([
  ['whole', false],
  ['streamed', true],
] as const)('usage of an answer, %s', (_, stream) => {
  it.each<[string, Json, bigint, Record<string, number>]>([
    [
      'audio of the prompt as input',
      usage(50, 3, { prompt_tokens_details: { audio_tokens: 44 } }),
      pico(50, 3),
      { [odd('prompt_audio_as_input')]: 1 },
    ],
    ['images of the prompt as input', usage(50, 3, { prompt_tokens_details: { image_tokens: 44 } }), pico(50, 3), {}],
    [
      'cached tokens above the prompt as the prompt',
      usage(7, 3, { prompt_tokens_details: { cached_tokens: 163 } }),
      pico(7, 3, 7),
      { [odd('cached_above_prompt')]: 1 },
    ],
    ['reasoning outside of the completion as output', grok, pico(12, 322), {}],
    [
      'audio outside of the prompt as input',
      { prompt_tokens: 9, completion_tokens: 201, total_tokens: 585, prompt_tokens_details: { audio_tokens: 375 } },
      pico(384, 201),
      { [odd('prompt_audio_as_input')]: 1 },
    ],
    ['a total that nothing explains without its rest', google, pico(35, 12), { [odd('unexplained_total')]: 1 }],
    ['a missing completion figure by the total', { prompt_tokens: 9, total_tokens: 12 }, pico(9, 3), {}],
    [
      'more tokens than the context window as they are',
      usage(10_000_000, 3),
      pico(10_000_000, 3),
      { [odd('above_context_window')]: 1 },
    ],
  ])('bills %s', async (_name, figures, cost, oddities) => {
    const { added } = await answered(figures, stream);
    expect(added).toEqual(oddities);
    expect(await billedPico()).toEqual([cost]);
    const told = warnings.filter(({ message }) => message.includes('context window'));
    expect(told).toHaveLength(odd('above_context_window') in oddities ? 1 : 0);
    for (const { fields } of told) {
      expect(fields).toMatchObject({ route: llama, context_window: 131_072, prompt_tokens: 10_000_000 });
    }
  });

  it('bills the rest of a total as output on a route that hides its reasoning', async () => {
    const { added, reply } = await answered(google, stream, hidden);
    expect(added).toEqual({});
    expect(await billedPico()).toEqual([pico(35, 74)]);
    if (!stream) {
      const { id, usage: told } = (reply as { json: Json }).json as { id: string; usage: Json };
      expect(told).toMatchObject({ prompt_tokens: 35, completion_tokens: 74, total_tokens: 109 });
      expect(await generation(bench.gateway, id, account.key)).toMatchObject({
        completion_tokens: 74,
        reasoning_tokens: 0,
      });
    }
  });

  it.each([[[]], ['many'], [7], [true], [[usage(5, 5)]]])('counts tokens itself where usage is %j', async (figures) => {
    await answered(figures, stream);
    const [cost] = await billedPico();
    expect(cost).toBeGreaterThan(0n);
    expect(cost).toBeLessThan(pico(100, 100));
  });

  const impossible: [string, Json, string][] = [
    ['10¹² completion tokens', usage(9, 1e12), llama],
    ['more than ten million prompt tokens', usage(10_000_001, 3), llama],
    ['more than ten million cached tokens', usage(9, 3, { prompt_tokens_details: { cached_tokens: 1e7 + 1 } }), llama],
    ['more than eight context windows', usage(32_000_001, 3), 'acme/meta/wide/defra'],
    ['a negative figure', usage(9, -3), llama],
    ['a fraction of a token', usage(9, 3.5), llama],
  ];

  it.each(impossible)('refuses %s, and bills nothing', async (_name, figures, id) => {
    const { gateway, upstream } = bench;
    upstream.reply(stream ? sse(streamOf(['Hel', 'lo'], { usage: figures })) : json(completion({ usage: figures })));
    const body = ask({ model: id });
    if (stream) {
      const reply = await gateway.stream(body, { key: account.key });
      expect([reply.status, reply.done]).toEqual([200, false]);
      expect(reply.frames.at(-1)!.json).toMatchObject({ error: { code: 'cost_unresolvable' } });
    } else {
      const reply = await gateway.chat(body, { key: account.key });
      expect([reply.status, reply.json.error?.code], reply.text).toEqual([503, 'provider_error']);
    }
    expect(upstream.calls).toHaveLength(1);
    expect(await billedPico()).toEqual([]);
  });
});

it('bills eight context windows where they are more than ten million tokens', async () => {
  await answered(usage(32_000_000, 3), false, 'acme/meta/wide/defra');
  expect(await billedPico()).toEqual([pico(32_000_000, 3)]);
});

it('bills the usage of an error frame that comes after the finish_reason', async () => {
  const frames = [...streamOf(['Hel', 'lo'], { usage: null }), { error: { message: 'late' }, usage: usage(900, 70) }];
  bench.upstream.reply(sse(frames));
  const reply = await bench.gateway.stream(ask(), { key: account.key });
  expect([reply.content, reply.done]).toEqual(['Hello', true]);
  expect(await billedPico()).toEqual([pico(900, 70)]);
});
