/**
 * Answers of providers with one large member, those of the generator that did the most harm: another account never waits 250 ms, memory
 * grows by less than 150 MB, and is given back within five seconds. `tests/long/hostile-answers.mjs` runs all of them.
 */

import { afterAll, beforeAll, expect, it } from 'vitest';
import { type SpawnedGateway, spawnGateway } from '../support/gateway.js';
import { measuredTime } from '../support/measured-time.js';
import { measured } from './co-tenant.js';
import { scaled } from './fixture.js';
import { hostileAnswers, hostileCatalogue, titleOf } from './generator/hostile-answers.mjs';
import { excesses, HostileRun, type HostileThreads, startHostileThreads } from './hostile-answer-run.mjs';

const bytes = scaled(14, 30) * 1024 * 1024;
const worst = [
  'chat, whole, usage.unknown: members',
  'chat, whole, unknown: deep arrays',
  'chat, whole, choices.0.message.tool_calls: tiny objects',
  'chat, one frame (2), usage: members',
  'chat, one frame (0), choices.0.delta.unknown: deep objects',
  'messages, one frame (0), message: one long text',
  'messages, whole, content.1.input: members',
  'responses, one frame (4), response.output: tiny objects',
  'responses, one frame (4), response: one long number',
  'gemini, many frames (0), modelVersion: tiny numbers',
  'bedrock, one frame (4), usage: one member many times',
  'chat for a Messages client, whole, unknown: tiny numbers',
  'embeddings, whole, data.0.embedding: tiny numbers',
  'count of tokens, whole, unknown: members',
];

let threads: HostileThreads;
let gateway: SpawnedGateway;
let run: HostileRun;
beforeAll(async () => {
  threads = await startHostileThreads();
  gateway = await spawnGateway({
    catalogue: hostileCatalogue(threads.url, threads.coTenantUrl),
    config: { breaker: { failures: 1000 } },
  });
  const [hostile, other] = await Promise.all([gateway.createAccount(), gateway.createAccount({ credit: '100.00' })]);
  run = new HostileRun(threads, gateway, { hostile: hostile.key, other: other.key });
  await run.warmUp();
}, 180_000);
afterAll(async () => {
  await gateway?.stop();
  await threads?.stop();
});

it.each(worst)('%s: nobody else waits, and memory stays bounded', measured, async (title) => {
  const hostile = hostileAnswers.find((each) => titleOf(each) === title)!;
  const result = await run.measure(hostile, bytes);
  expect(excesses(result), measuredTime).toEqual([]);
});
