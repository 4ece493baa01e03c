import { describe, expect, it } from 'vitest';
import type { Route } from '../../catalogue/route.js';
import type { ChatRequest } from '../../wire/chat-request.js';
import type { RememberedRoute } from '../handover.js';
import { orderCandidates } from './order-candidates.js';

const routeOf = (id: string, dialect: string) =>
  ({ id, provider: { id, dialect }, baseUrl: `https://${id}.example/v1` }) as unknown as Route;
const [whole, other, partial] = [routeOf('whole', 'openai'), routeOf('other', 'openai'), routeOf('partial', 'gemini')];
const chat = {} as ChatRequest;
/** One dialect has no word for `user`. */
const withUser = { task: { kind: 'embedding', user: 'me' } } as unknown as ChatRequest;
const rememberedRoute = ({ id }: Route): RememberedRoute => ({ name: 'n', isNamed: true, routeId: id, first: null });

const health = { observed: () => ({ firstByteMs: null, failureShare: 0 }) };

describe('the order of candidates', () => {
  it('begins with the route of the conversation', () => {
    const remembered = rememberedRoute(partial);
    expect(
      orderCandidates([whole, other, partial], { request: chat, atMs: 0, preferences: null, remembered, health }),
    ).toEqual([...[partial, whole, other]]);
    expect(remembered.first).toBe(partial);
  });

  it('puts a route that leaves something out behind the others, and then it was not tried first', () => {
    const remembered = rememberedRoute(partial);
    expect(
      orderCandidates([whole, other, partial], { request: withUser, atMs: 0, preferences: null, remembered, health }),
    ).toEqual([...[whole, other, partial]]);
    expect(remembered.first).toBeNull();
    const kept = rememberedRoute(other);
    expect(
      orderCandidates([partial, whole, other], {
        request: withUser,
        atMs: 0,
        preferences: null,
        remembered: kept,
        health,
      }),
    ).toEqual([...[other, whole, partial]]);
    expect(kept.first).toBe(other);
  });
});
