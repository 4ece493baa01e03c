import { describe, expect, it } from 'vitest';
import { smallSnapshot } from '../../../tests/support/snapshot.js';
import { readCompletion } from '../../providers/dialects/openai/completion.js';
import type { ChatRequest } from '../../wire/chat-request.js';
import { routerMetadataText } from '../../wire/router-metadata.js';
import { readUsage } from '../../wire/usage.js';
import type { Billed, Exchange } from '../handover.js';
import { answerText } from './answer-text.js';
import { bill } from './bill.js';

const route = smallSnapshot().routes.get('acme/meta/llama/defra')!;
const request = { members: '"messages":[]', encoding: 'latin1' } as unknown as ChatRequest;
const asked: unknown[] = [];
const counter = {
  async count(what: unknown) {
    asked.push(what);
    return { promptTokens: 100, completionTokens: 10 };
  },
};
const given = (prompt: number, completion: number) =>
  readUsage(
    { prompt_tokens: prompt, completion_tokens: completion, prompt_tokens_details: { cached_tokens: 2 } },
    { contextWindow: null },
  );

describe('a bill', () => {
  it('is made from the provider\u2019s usage at once, without counting', () => {
    asked.length = 0;
    const billed = bill({ counter }, request, route, { usage: given(9, 3), text: 'x', whole: true });
    expect(billed).toMatchObject({
      usage: { promptTokens: 9, completionTokens: 3, cachedTokens: 2, reasoningTokens: 0 },
      source: 'provider',
      costPico: 9n * 600_000n + 3n * 800_000n,
      oddities: [],
    });
    expect(asked).toEqual([]);
  });

  it('is counted where the provider gave none: prompt and what was delivered', async () => {
    const billed = await bill({ counter }, request, route, {
      usage: { kind: 'absent' },
      text: 'delivered',
      whole: true,
    });
    expect(billed).toMatchObject({
      usage: { promptTokens: 100, completionTokens: 10, cachedTokens: 0 },
      source: 'counted',
      costPico: 100n * 600_000n + 10n * 800_000n,
    });
    expect(asked.at(-1)).toEqual({ members: '"messages":[]', encoding: 'latin1', delivered: 'delivered' });
  });

  it('of a stream that broke off takes the prompt from the provider, and at least what was delivered', async () => {
    const billed = await bill({ counter }, request, route, { usage: given(9, 3), text: 'x', whole: false });
    expect(billed).toMatchObject({
      usage: { promptTokens: 9, completionTokens: 10, cachedTokens: 2 },
      source: 'provider',
    });
  });
});

describe('a whole answer as the caller gets it', () => {
  const exchange = { generationId: 'gen-1', createdAt: 1_700_000_000_999 } as Exchange;
  const metadata = routerMetadataText({
    requestedModel: 'acme/meta/llama',
    alias: null,
    route,
    providersAttempted: ['acme'],
    fallbackOccurred: false,
    breakerSkipped: [],
  });
  const billed: Billed = {
    usage: { promptTokens: 9, completionTokens: 3, cachedTokens: 0, reasoningTokens: 0 },
    source: 'provider',
    costPico: 1_500_000n,
  };

  function answer(body: string): Record<string, unknown> {
    const reading = readCompletion(Buffer.from(body), { contextWindow: null });
    if (reading.kind !== 'completion') throw new Error(reading.kind);
    const text = answerText(exchange, route, reading.parts, billed, metadata);
    return JSON.parse(Buffer.from(text, reading.parts.encoding).toString('utf8'));
  }

  it.each(['é😀', '\\u00e9\\ud83d\\ude00'])(
    'has our id and model, the cost, the receipt, and every text as it came (%s)',
    (content) => {
      const out = answer(
        `{ "id":"up", "object":"x","created":1,"model":"m", "choices":[{"index":0,"message":{"content":"${content}"}}] , "note":"é", "usage": {"prompt_tokens":9,"completion_tokens":3,"total_tokens":12,"note":"ü"}, "router_metadata":{"forged":true} }`,
      );
      expect(out).toEqual({
        id: 'gen-1',
        object: 'chat.completion',
        created: 1_700_000_000,
        model: 'acme/meta/llama/defra',
        choices: [{ index: 0, message: { role: 'assistant', content: 'é😀' }, finish_reason: 'stop' }],
        note: 'é',
        system_fingerprint: null,
        usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12, note: 'ü', cost: 0.0000015 },
        router_metadata: JSON.parse(metadata),
      });
    },
  );

  it('has each of our members once, whatever the upstream doubled', () => {
    const out = answer(
      '{"id":"a","id":"b","choices":[{"message":{}}],"usage":{"prompt_tokens":1},"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12,"cost":5}}',
    );
    expect(Object.keys(out)).toEqual([
      ...['id', 'object', 'created', 'model', 'choices', 'system_fingerprint', 'usage', 'router_metadata'],
    ]);
    expect(out.usage).toMatchObject({ prompt_tokens: 9, cost: 0.0000015 });
  });
});
