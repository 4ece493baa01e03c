import { describe, expect, it } from 'vitest';
import { type GatewayError, gatewayError } from '../errors/gateway-error.js';
import type { Plan } from './handover.js';
import { alongChain } from './resolve.js';

const plan = (id: string): Plan => ({ id, alias: null, name: null, kind: 'pin', routes: [], hasOwn: false });

const failures = {
  failed: gatewayError('provider_error', { provider: 'acme', failure: 'no' }),
  timedOut: gatewayError('provider_timeout', { provider: 'acme', budget: 'overall', deadline: '5m0s' }),
  rejected: gatewayError('upstream_rejected', { provider: 'acme', quote: 'no' }),
  cannotApply: gatewayError('cannot_apply', { provider: 'acme', param: 'n', reason: 'no' }),
  policy: gatewayError('routing_policy_exhausted', { id: 'x', gates: 'y', param: 'model' }),
  withdrawn: gatewayError('model_not_found', { id: 'x' }),
} satisfies Record<string, GatewayError>;

/** Walks ids whose names say how they end; anything that is no failure serves. */
async function walked(primary: string, ...chain: string[]) {
  const entered: string[] = [];
  const outcome = await alongChain<{ kind: 'served'; by: string }>(plan(primary), chain.map(plan), async ({ id }) => {
    entered.push(id);
    const error = (failures as Record<string, GatewayError>)[id];
    return error ? { kind: 'failed', error } : { kind: 'served', by: id };
  });
  const end = outcome.kind === 'served' ? outcome.by : outcome.error;
  return { entered, end };
}

describe('a fallback chain', () => {
  it('is not touched when the primary serves', async () => {
    expect(await walked('a', 'b')).toEqual({ entered: ['a'], end: 'a' });
  });

  it.each(['failed', 'timedOut'])('is walked entry by entry after a 503 or 504 (%s)', async (primary) => {
    expect(await walked(primary, 'failed', 'b', 'c')).toEqual({ entered: [primary, 'failed', 'b'], end: 'b' });
  });

  it.each(['rejected', 'cannotApply', 'policy', 'withdrawn'] as const)(
    'is never walked after a 4xx of the primary (%s)',
    async (primary) => {
      expect(await walked(primary, 'b')).toEqual({ entered: [primary], end: failures[primary] });
    },
  );

  it('answers with the failure of the last entry tried', async () => {
    expect((await walked('failed', 'timedOut')).end).toBe(failures.timedOut);
  });

  it.each(['policy', 'withdrawn', 'cannotApply'])(
    'passes over an entry that nobody was asked for (%s)',
    async (entry) => {
      expect(await walked('failed', entry, 'b')).toEqual({ entered: ['failed', entry, 'b'], end: 'b' });
      expect((await walked('failed', entry)).end).toBe(failures.failed);
      expect((await walked('failed', 'timedOut', entry)).end).toBe(failures.timedOut);
    },
  );

  it('stops at an upstream\u2019s rejection of the request', async () => {
    expect(await walked('failed', 'rejected', 'b')).toEqual({
      entered: ['failed', 'rejected'],
      end: failures.rejected,
    });
  });
});
