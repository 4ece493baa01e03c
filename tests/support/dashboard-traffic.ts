/** A month of an account's requests, the same in every run, written into the store of a gateway that is not running yet. */
import { generationId, requestId } from '../../src/base/ids.js';
import { silentLogger } from '../../src/base/logger.js';
import type { AttemptRecord, Generation } from '../../src/domain/generation.js';
import { settlementRow } from '../../src/domain/settlement-row.js';
import { openStore } from '../../src/storage/open-store.js';
import { aGeneration } from './generation.js';
import { SeededRandom } from './seeded-random.js';

const hourMs = 3_600_000;

/** Route, share, and pico-dollars a token in and out. */
const routes: [route: string, share: number, input: bigint, output: bigint][] = [
  ['northwind/meta/llama-3.3-70b/defra', 0.34, 590_000n, 790_000n],
  ['boreal/mistral/small-3.2/sesto', 0.24, 100_000n, 300_000n],
  ['northwind/meta/llama-3.3-70b/frpar', 0.14, 620_000n, 820_000n],
  ['cascade/qwen/qwen3-32b/usbda', 0.12, 290_000n, 590_000n],
  ['tsukimi/qwen/qwen3-32b/sgsin', 0.07, 350_000n, 700_000n],
  ['tsukimi/meta/llama-3.3-70b/jptyo', 0.05, 880_000n, 1_100_000n],
  ['cascade/qwen/qwen3-32b/brsao', 0.04, 450_000n, 800_000n],
];

export interface TrafficOptions {
  databaseUrl: string;
  accountId: string;
  keys: { id: string; name: string }[];
  nowMs: number;
  days?: number;
  /** 1 is some 50 requests a day. */
  scale?: number;
}

export async function writeTraffic(options: TrafficOptions): Promise<void> {
  const { databaseUrl, nowMs, days = 30, scale = 1 } = options;
  const random = new SeededRandom(7);
  const store = await openStore({ databaseUrl, logger: silentLogger });
  await store.ledger.post({
    ...{ id: 'led-first', accountId: options.accountId, createdAt: nowMs - (days + 1) * 24 * hourMs, kind: 'credit' },
    ...{ amountPico: 25_000_000_000_000n, generationId: null, note: 'Invoice 1042' },
  });
  const generations: Generation[] = [];
  for (let hour = days * 24; hour > 0; hour--) {
    const startMs = nowMs - hour * hourMs;
    const clock = new Date(startMs).getUTCHours();
    const weekend = [0, 6].includes(new Date(startMs).getUTCDay());
    const busy = (clock >= 7 && clock <= 19 ? 5 : 1) * (weekend ? 0.35 : 1) * (1.6 - hour / (days * 24));
    for (let count = Math.round(scale * busy * (0.5 + random.next())); count > 0; count--) {
      generations.push(request(random, startMs + random.below(hourMs), options));
    }
  }
  generations.sort((a, b) => a.createdAt - b.createdAt);
  // The newest one is on the first page, and has something to show.
  generations.push(afterFallback(served(random, nowMs - 1000, options), 240));
  const batch = 1_000;
  for (let from = 0; from < generations.length; from += batch) {
    await store.ledger.settle(generations.slice(from, from + batch).map(settlementRow));
  }
  await store.close();
}

function request(random: SeededRandom, createdAt: number, options: TrafficOptions): Generation {
  const base = served(random, createdAt, options);
  if (random.chance(0.025)) return failed(base);
  return random.chance(0.06) ? afterFallback(base, base.firstByteMs!) : base;
}

function served(random: SeededRandom, createdAt: number, { accountId, keys }: TrafficOptions): Generation {
  const [route, , input, output] = pickRoute(random);
  const [provider = '', creator, model, locode = ''] = route.split('/');
  const promptTokens = 200 + random.below(3800);
  const completionTokens = 40 + random.below(900);
  const firstByteMs = 120 + random.below(260) + (random.chance(0.12) ? 380 : 0);
  const key = random.pick(keys);
  return aGeneration({
    ...{ id: generationId(createdAt), requestId: requestId(createdAt), accountId, keyId: key.id, keyName: key.name },
    ...{ createdAt, requestedModel: `auto/${creator}/${model}`, servedModel: route, provider, locode },
    ...{ promptTokens, completionTokens, cachedTokens: 0, reasoningTokens: 0, firstByteMs },
    latencyMs: firstByteMs + completionTokens * 9,
    costPico: BigInt(promptTokens) * input + BigInt(completionTokens) * output,
    bill: {
      lines: [
        { name: 'input', count: promptTokens, rate: input },
        { name: 'output', count: completionTokens, rate: output },
      ],
      tier: null,
    },
    ...{ providersAttempted: [provider], fallbackOccurred: false, attempts: [attempt(provider, locode, firstByteMs)] },
  });
}

const attempt = (provider: string, locode: string, firstByteMs: number): AttemptRecord => ({
  ...{ provider, locode, outcome: 'served', status: 200, first_byte_ms: firstByteMs, error: null },
});

const refused: AttemptRecord = {
  ...{ provider: 'cascade', locode: 'usqas', outcome: 'capacity', status: 429, first_byte_ms: null },
  error: 'The request queue is full.',
};

function afterFallback(base: Generation, firstByteMs: number): Generation {
  return {
    ...base,
    providersAttempted: ['cascade', base.provider!],
    fallbackOccurred: true,
    attempts: [refused, attempt(base.provider!, base.locode!, firstByteMs)],
  };
}

function failed(base: Generation): Generation {
  return {
    ...base,
    ...{
      status: 503,
      servedModel: null,
      provider: null,
      locode: null,
      completionTokens: 0,
      bill: null,
      costPico: 0n,
      billed: false,
    },
    ...{ firstByteMs: null, finishReason: null, streamEnd: null, usageSource: null, errorCode: 'provider_error' },
    ...{ providersAttempted: ['cascade'], attempts: [refused] },
  };
}

function pickRoute(random: SeededRandom) {
  let left = random.next();
  for (const route of routes) {
    left -= route[1];
    if (left <= 0) return route;
  }
  return routes[0]!;
}
