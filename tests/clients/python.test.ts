/** The official Python clients and the OpenAI Agents SDK, unchanged. Each runs where its package is installed, and is skipped by name where not. */
import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { useDoors } from '../doors/door-gateway.js';
import { upstreamsOf } from '../doors/doors.js';
import { json } from '../support/scripted-upstream.js';
import { answer, playWeather, routes } from './weather.js';

const bench = useDoors();
let key = '';
beforeAll(async () => {
  key = (await bench.gateway.createAccount()).key;
});

const python = process.env.LODESTONE_PYTHON || 'python3';
/** Looked for, not loaded: to load such a package takes seconds. */
const has = (name: string) =>
  spawnSync(python, ['-c', `import sys, importlib.util; sys.exit(not importlib.util.find_spec('${name}'))`], {
    stdio: 'ignore',
    timeout: 120_000,
  }).status === 0;

/** What a program of this folder prints. */
async function run(program: string, ...args: string[]) {
  const file = join(import.meta.dirname, program);
  const { stdout } = await promisify(execFile)(python, [file, key, ...args], { timeout: 150_000 });
  return JSON.parse(stdout);
}

describe.skipIf(!has('anthropic'))('Anthropic’s Python client (needs the package anthropic)', () => {
  it.each(['messages', 'chat'] as const)('works on a provider that speaks %s', async (api) => {
    const { model, server } = routes[api];
    const script = playWeather(bench, api);
    bench[server].onRequest((call) =>
      call.path.endsWith('count_tokens') ? json({ input_tokens: 42 }) : script.answer(call),
    );
    // To a provider that speaks its API the tool runner sends threads, which the scripted one does not keep.
    const more = api === 'chat' ? ['runner'] : [];
    const { kinds, tokens, ...rest } = await run('anthropic_client.py', bench.gateway.url, model, ...more);
    expect(rest).toEqual({
      runs: more.length > 0 ? [answer, answer] : [],
      input: { city: 'Köln' },
      cost: expect.any(Number),
      streamed: { city: 'Köln' },
      stop_reason: 'tool_use',
    });
    for (const kind of ['message_start', 'content_block_delta', 'input_json', 'message_stop'])
      expect(kinds).toContain(kind);
    if (api === 'messages') expect(tokens).toBe(42);
    else expect(tokens).toBeGreaterThan(0);
  });
});

describe.skipIf(!has('openai'))('OpenAI’s Python client (needs the package openai)', () => {
  it.each(upstreamsOf.responses!)('works on $pin', async (upstream) => {
    const text = '{"city":"Köln"}';
    const data = [0, 1].map((index) => ({ object: 'embedding', index, embedding: [index, 0.5, -0.25] }));
    const vectors = { object: 'list', model: 'm', data, usage: { prompt_tokens: 2, total_tokens: 2 } };
    for (const server of [bench.plain, bench.native])
      server.onRequest(({ path, json: body }) => {
        if (path.endsWith('/embeddings')) return json(vectors);
        return (body as { stream?: boolean }).stream ? upstream.stream(['{"city":', '"Köln"}']) : upstream.whole(text);
      });
    const embed = 'plain/acme/vectors/defra';
    const result = await run('openai_client.py', `${bench.gateway.url}/v1`, upstream.pin, embed);
    expect(result).toMatchObject({
      ...{ text, cost: expect.any(Number), streamed: text, parsed: 'Köln', vectors: [3, 3] },
      ...{ first: 'response.created', last: 'response.completed' },
    });
  });
});

describe.skipIf(!has('agents'))('OpenAI Agents SDK (needs the Python package openai-agents)', () => {
  it.each(['responses', 'chat', 'messages'] as const)('works on a provider that speaks %s', async (api) => {
    const { model, server } = routes[api];
    const scripts = [playWeather(bench, api)];
    const result = await run('agents_client.py', `${bench.gateway.url}/v1`, model);
    expect(result).toEqual({ whole: answer, streamed: answer });
    expect(scripts[0]!.turns).toBe(6);
    expect(Object.keys(scripts[0]!.results)).toHaveLength(2);
    if (api === 'responses') for (const call of bench[server].calls) expect(call.json).toMatchObject({ store: false });
  });
});
