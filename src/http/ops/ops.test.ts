import { describe, expect, it } from 'vitest';
import { httpFixture, singleProcess } from '../../../tests/support/http-fixture.js';
import type { HttpDeps } from '../deps.js';

async function ready(overrides: Partial<HttpDeps>, { draining = false, storeAway = false } = {}) {
  const fixture = await httpFixture(overrides);
  fixture.lifecycle.draining = draining;
  if (storeAway) fixture.store.ping = () => Promise.reject(new Error('away'));
  const answer = await fixture.app.inject({ url: '/readyz' });
  return [answer.statusCode, answer.json()];
}

const noSnapshot = { catalogue: { current: null, reload: async () => ({ ok: false as const, faults: [] }) } };

describe('GET /readyz', () => {
  it('says which parts are missing', async () => {
    expect(await ready({})).toEqual([200, { status: 'ready' }]);
    expect(await ready(noSnapshot)).toEqual([503, { status: 'not_ready', missing: ['snapshot'] }]);
    expect(await ready({}, { storeAway: true })).toEqual([503, { status: 'not_ready', missing: ['store'] }]);
    const all = { status: 'not_ready', missing: ['draining', 'snapshot', 'store'] };
    expect(await ready(noSnapshot, { draining: true, storeAway: true })).toEqual([503, all]);
  });

  it('is not ready while the journal cannot be written, and says why and what to do', async () => {
    const journal = { settled: async () => true, fault: 'ENOSPC: no space left on device' };
    const [status, body] = await ready({ journal });
    expect([status, body.status, body.missing]).toEqual([503, 'not_ready', ['journal']]);
    expect(body.reason).toContain('ENOSPC: no space left on device');
    expect(body.reason).toContain('storage.data_dir');
    expect(await ready({ journal: { ...journal, fault: null } })).toEqual([200, { status: 'ready' }]);
  });

  it('stays ready without a part that it can serve without, and names it', async () => {
    const deployment = { ...singleProcess, degraded: () => ['redis'] };
    expect(await ready({ deployment })).toEqual([200, { status: 'ready', degraded: ['redis'] }]);
    const neither = { status: 'not_ready', missing: ['store'], degraded: ['redis'] };
    expect(await ready({ deployment }, { storeAway: true })).toEqual([503, neither]);
    const journal = { settled: async () => true, settlerAway: true };
    expect(await ready({ journal })).toEqual([200, { status: 'ready', degraded: ['settler'] }]);
  });
});
