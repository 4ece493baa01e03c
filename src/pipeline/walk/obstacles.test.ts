import { describe, expect, it } from 'vitest';
import { smallSnapshot } from '../../../tests/support/snapshot.js';
import type { Capability, Route } from '../../catalogue/route.js';
import type { ChatRequest } from '../../wire/chat-request.js';
import type { Stay } from '../stay.js';
import { obstacleOf, orderCandidates } from './obstacles.js';

const route = smallSnapshot().routes.get('acme/meta/llama/defra')!;
const holds = { holds: { isHeld: () => false } } as unknown as Parameters<typeof obstacleOf>[0];

function obstacle(form: string, ...capabilities: Capability[]) {
  const text = { members: '', encoding: 'latin1' } as const;
  const request = { ...text, needs: ['response_format'] as const, responseFormat: form };
  return obstacleOf(holds, { ...route, capabilities: new Set(capabilities) }, request)?.param ?? null;
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

const routeOf = (id: string, dialect: string) =>
  ({ id, provider: { id, dialect }, baseUrl: `https://${id}.example/v1` }) as unknown as Route;
const [whole, other, partial] = [routeOf('whole', 'openai'), routeOf('other', 'openai'), routeOf('partial', 'gemini')];
const chat = {} as ChatRequest;
/** One dialect has no word for `user`. */
const withUser = { task: { kind: 'embedding', user: 'me' } } as unknown as ChatRequest;
const stayWith = ({ id }: Route): Stay => ({ name: 'n', isNamed: true, routeId: id, first: null });

describe('the order of candidates', () => {
  it('begins with the route of the conversation', () => {
    const stay = stayWith(partial);
    expect(orderCandidates([whole, other, partial], { request: chat, preferences: null, stay })).toEqual([
      ...[partial, whole, other],
    ]);
    expect(stay.first).toBe(partial);
  });

  it('puts a route that leaves something out behind the others, and then it was not tried first', () => {
    const stay = stayWith(partial);
    expect(orderCandidates([whole, other, partial], { request: withUser, preferences: null, stay })).toEqual([
      ...[whole, other, partial],
    ]);
    expect(stay.first).toBeNull();
    const stayed = stayWith(other);
    expect(orderCandidates([partial, whole, other], { request: withUser, preferences: null, stay: stayed })).toEqual([
      ...[other, whole, partial],
    ]);
    expect(stayed.first).toBe(other);
  });
});
