/**
 * Answers that are larger, or hold more, than is read. Where the request may have asked for that much, nobody else pays for it: the route's
 * breaker stays closed, and no other provider is asked. Otherwise it is the provider's fault.
 */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Json } from '../support/client.js';
import { type Lane, useRouting } from '../support/routing.js';
import { chunk, completion, encodedBytes, json, type Script, sse } from '../support/scripted-upstream.js';
import { expectBooks, expectError, providerError } from './fixture.js';

const routing = useRouting({ config: { breaker: { failures: 2 } } });

const mebibyte = 1024 * 1024;
const large = encodedBytes(gzipSync(Buffer.alloc(33 * mebibyte, 'x'), { level: 1 }), 'gzip');
const deep = json(`{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`);
const deepFrame = `data: {"a":${'['.repeat(50_000)}\n\n`;
const tool = { type: 'function', function: { name: 'f', parameters: {} } };

/** Two counted failures open a breaker. */
const tries = 3;

async function ask(lane: Lane, script: Script, more: Json): Promise<string[]> {
  const messages: string[] = [];
  routing.on('alpha', script);
  for (let i = 0; i < tries; i++) messages.push(expectError(await lane.chat(more), providerError));
  return messages;
}

describe('an answer that the request may have asked for', () => {
  const tooLarge = 'its decompressed body is over 33554432 bytes';
  const tooDeep = 'its answer is nested deeper than 128 levels';
  it.each<[string, Script, Json, string]>([
    ['several choices', large, { n: 64 }, tooLarge],
    ['log probabilities', large, { logprobs: true, top_logprobs: 20 }, tooLarge],
    ['calls of tools', deep, { tools: [tool] }, tooDeep],
  ])('opens no breaker, ends the walk and is not billed: %s', async (_, script, more, reason) => {
    const lane = await routing.lane(['alpha', 'beta']);
    const messages = await ask(lane, script, more);
    expect(new Set(messages)).toEqual(
      new Set([
        `The answer of the provider alpha is too large: ${reason} (HTTP 200). Nothing was billed. Ask for fewer choices, log probabilities or inputs, or for a stream.`,
      ]),
    );
    expect(routing.called).toEqual(messages.map(() => 'alpha'));
    expect((await lane.route('alpha')).breaker).toBe('closed');
    await expectBooks(routing.gateway, lane.account, { records: tries, costs: [] });
    expect((await lane.record()).attempts).toMatchObject([{ provider: 'alpha', outcome: 'malformed' }]);
  });

  it('ends the fallback chain too', async () => {
    const lane = await routing.lane(['alpha']);
    await lane.saveChain(lane.pin('alpha'));
    routing.on('alpha', large);
    expect((await lane.chat({ n: 2 })).status).toBe(503);
    expect(routing.called).toEqual(['alpha']);
  });

  it('in a frame of a stream cuts the stream, bills what was delivered and opens no breaker', async () => {
    const lane = await routing.lane(['alpha']);
    routing.on('alpha', sse([chunk({ content: 'one' }), deepFrame]));
    for (let i = 0; i < tries; i++) expect((await lane.stream({ logprobs: true })).text).toContain('one');
    expect((await lane.route('alpha')).breaker).toBe('closed');
    const record = await lane.record();
    expect([record.stream_end, record.cost_usd === '0']).toEqual(['cut', false]);
  });
});

describe('an answer that no such request can get', () => {
  it.each<[string, Script]>([
    ['too large', large],
    ['too deep', deep],
    [
      'an unknown member of a million values',
      json(`${JSON.stringify(completion()).slice(0, -1)},"choices":[${'1,'.repeat(1_000_001)}1]}`),
    ],
  ])('counts against the route, and the walk goes on: %s', async (_, script) => {
    const lane = await routing.lane(['alpha', 'beta']);
    routing.on('alpha', script);
    for (let i = 0; i < 2; i++) expect((await lane.chat()).json.router_metadata).toMatchObject({ provider: 'beta' });
    expect((await lane.route('alpha')).breaker).toBe('open');
  });

  it('a stream that begins with a frame that holds too much moves the walk on, and says why', async () => {
    const lane = await routing.lane(['alpha', 'beta']);
    routing.on('alpha', sse([deepFrame]));
    expect((await lane.stream()).status).toBe(200);
    expect(routing.called).toEqual(['alpha', 'beta']);
    const { attempts } = (await lane.record()) as { attempts: Json[] };
    expect(attempts[0]).toMatchObject({
      ...{ provider: 'alpha', outcome: 'malformed' },
      error: 'it sent a frame that is nested deeper than 128 levels (HTTP 200)',
    });
  });
});
