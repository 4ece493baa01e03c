import { describe, expect, it } from 'vitest';
import { smallSnapshot } from '../../../tests/support/snapshot.js';
import type { Price } from '../../catalogue/price.js';
import type { Capability, Route } from '../../catalogue/route.js';
import { unpricedTools } from '../../providers/native-pass.js';
import type { ChatRequest, PricedExtras } from '../../wire/chat-request.js';
import { obstacleOf } from './obstacles.js';

const route = smallSnapshot().routes.get('acme/meta/llama/defra')!;
const holds = { holds: { isHeld: () => false } } as unknown as Parameters<typeof obstacleOf>[0];

function obstacle(form: string, ...capabilities: Capability[]) {
  const text = { members: '', encoding: 'latin1' } as const;
  const request = { ...text, needs: ['response_format'] as const, responseFormat: form };
  return obstacleOf(holds, { ...route, capabilities: new Set(capabilities) }, request, 0)?.param ?? null;
}

describe('a route that knows one form of response_format', () => {
  it.each<[string, Capability[], boolean]>([
    ['json_object', ['response_format'], true],
    ['json_schema', ['response_format'], true],
    ['json_object', ['json_object'], true],
    ['json_schema', ['json_object'], false],
    ['json_object', ['json_schema'], false],
    ['json_schema', ['json_schema', 'json_object'], true],
    ['tools', ['tools', 'json_object', 'json_schema'], false],
    ['json_object', [], false],
  ])('%s with %j: applied %s', (form, capabilities, applied) => {
    expect(obstacle(form, ...capabilities)).toBe(applied ? null : 'response_format');
  });
});

describe('a price that changes on a date', () => {
  const base = { input: 1n, output: 2n, cachedInput: null };
  const classes = {
    ...base,
    ...{ inputAudio: 3n, outputAudio: 4n },
    ...{ tiers: new Map([['flex', base]]), tools: new Map([['web_search', 5n]]) },
  };
  const extras = { tier: null, tools: [], searchOptions: false, audio: false, spoken: false };
  const text = { members: '', encoding: 'latin1', needs: [], responseFormat: null } as const;
  const refusedAt = (price: Price, asked: Partial<PricedExtras>, atMs: number) =>
    obstacleOf(holds, { ...route, price }, { ...text, extras: { ...extras, ...asked } }, atMs)?.param ?? null;

  it.each<[string, Partial<PricedExtras>]>([
    ['service_tier', { tier: 'flex' }],
    ['tools', { tools: ['web_search'] }],
    ['web_search_options', { searchOptions: true }],
    ['messages', { audio: true }],
    ['modalities', { spoken: true }],
  ])('decides about %s by the time of the request', (param, asked) => {
    const ends = { ...classes, later: { fromMs: 1_000, price: base } };
    const begins = { ...base, later: { fromMs: 1_000, price: classes } };
    expect([999, 1_000].map((atMs) => refusedAt(ends, asked, atMs))).toEqual([null, param]);
    expect([999, 1_000].map((atMs) => refusedAt(begins, asked, atMs))).toEqual([param, null]);
  });

  it('decides in the same way which tools a native pass leaves out', () => {
    const native = { tools: { entries: [{ name: 'web_search' }] } } as unknown as ChatRequest['native'];
    const request = { native, extras: { ...extras, tools: ['web_search'] } } as unknown as ChatRequest;
    const price = { ...base, later: { fromMs: 1_000, price: classes } };
    expect([999, 1_000].map((atMs) => unpricedTools({ price }, request, atMs))).toEqual([['web_search'], []]);
  });

  it('names a parameter of a native pass by the client\u2019s word', () => {
    const native = { api: 'responses', names: { messages: 'input' } } as unknown as ChatRequest['native'];
    const asked = { ...text, native, extras: { ...extras, audio: true } };
    const speaking = {
      ...route,
      price: base,
      provider: { ...route.provider, apis: ['responses'] },
    } as unknown as Route;
    expect(obstacleOf(holds, speaking, asked, 0)).toMatchObject({ param: 'input' });
  });
});
