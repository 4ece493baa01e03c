/** What a streamed chunk of each dialect costs a running gateway, in CPU time of its whole process, beside OpenAI's (the bar: at most three times). */
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type SpawnedGateway, spawnGateway } from '../support/gateway.js';
import { scaled } from '../support/scaled.js';
import { type ScriptedUpstream, startUpstream } from '../support/scripted-upstream.js';
import { anthropicFixture } from './anthropic.js';
import { azureFixture } from './azure.js';
import { bedrockFixture } from './bedrock.js';
import { figures } from './cases.js';
import type { Said } from './dialect-fixture.js';
import { geminiFixture } from './gemini.js';
import { openAiFixture } from './openai.js';
import { playStream } from './rig.js';

const fixtures = [openAiFixture, azureFixture, anthropicFixture, geminiFixture, bedrockFixture];
const chunkCount = scaled(2_000, 3_000);
const rounds = scaled(3, 4);
const said: Said = {
  text: Array.from({ length: chunkCount }, (_, at) => (at % 10 === 9 ? 'line\n' : ' word')),
  finish: 'stop',
  usage: figures(),
};

let gateway: SpawnedGateway;
let upstream: ScriptedUpstream;
const price = { input: 1, output: 1 };

beforeAll(async () => {
  upstream = await startUpstream();
  const providers = fixtures.map(({ dialect, basePath }) => ({
    id: dialect,
    dialect,
    base_url: `${upstream.url}${basePath}`,
    auth: 'none',
  }));
  const routes = fixtures.map(({ dialect, upstreamModel }) => ({
    provider: dialect,
    locode: 'global',
    upstream_model: upstreamModel,
    price,
  }));
  const catalogue = { providers, models: [{ creator: 'c', model: 'm', routes }] };
  gateway = await spawnGateway({ catalogue });
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

/** Microseconds of CPU that all threads of the process have used. */
function cpuUs(): number {
  const tasks = `/proc/${gateway.pid}/task`;
  const used = readdirSync(tasks).map((task) =>
    Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]),
  );
  return used.reduce((sum, ns) => sum + ns, 0) / 1000;
}

async function costOf(fixture: (typeof fixtures)[number]): Promise<number> {
  upstream.reply(playStream(fixture, said));
  const before = cpuUs();
  const reply = await gateway.stream({
    model: `${fixture.dialect}/c/m/global`,
    messages: [{ role: 'user', content: 'Go on.' }],
  });
  const cost = (cpuUs() - before) / chunkCount;
  expect(reply.content).toBe(said.text!.join(''));
  return cost;
}

it.skipIf(process.platform !== 'linux')(
  'a chunk of a translated dialect costs the gateway at most three times what OpenAI\u2019s costs',
  async () => {
    const costs = fixtures.map(() => [] as number[]);
    for (let round = 0; round <= rounds; round++) {
      for (const [at, fixture] of fixtures.entries()) {
        const cost = await costOf(fixture);
        // The first round is for the engine to warm up.
        if (round > 0) costs[at]!.push(cost);
      }
    }
    // The machine is shared: the least of several rounds is nearest to the work itself.
    const [own, ...others] = costs.map((all) => Math.min(...all));
    for (const [at, { dialect }] of fixtures.slice(1).entries()) {
      const ratio = others[at]! / own!;
      console.log(
        `${dialect}: ${others[at]!.toFixed(1)} µs a chunk, ${ratio.toFixed(2)} × OpenAI's ${own!.toFixed(1)} µs`,
      );
      expect(ratio).toBeLessThan(3);
    }
  },
  180_000,
);
