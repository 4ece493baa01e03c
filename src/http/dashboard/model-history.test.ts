import { describe, expect, it } from 'vitest';
import { BrowserSession } from '../../../tests/support/browser-session.js';
import { httpFixture } from '../../../tests/support/http-fixture.js';
import type { ChangeQuery, RouteWindow } from '../../storage/store.js';

const aWindow: RouteWindow = {
  ...{ routeId: '', window: '24h', served: 30, broken: 0, failed: 10, accounts: 4 },
  ...{ firstByteP50Ms: 100, firstByteP95Ms: 200, tokensPerSecondP50: 30 },
};

describe('GET models/{creator}/{model}/history', () => {
  it('has the windows of each route, and what changed about the model, its providers and its regions', async () => {
    const fixture = await httpFixture();
    const { store, app, deps } = fixture;
    const [model] = [...deps.catalogue.current!.models.values()];
    const [route] = model!.routes;
    store.routeHistory.windows = async () => [{ ...aWindow, routeId: route!.id }];
    const asked: ChangeQuery[] = [];
    store.catalogueLog.changes = async (query) => {
      asked.push(query);
      const change = { kind: 'price', id: route!.id, field: 'input', from: '1', to: '2', source: 'list', asOf: '2026' };
      return { data: [{ ...change, kind: 'price', atMs: 0, position: 0, digest: 'd' }], hasMore: false };
    };
    const path = `models/${model!.canonicalId}/history`;
    expect((await new BrowserSession(app).call('GET', path)).statusCode).toBe(401);
    const ada = new BrowserSession(app);
    await ada.call('POST', 'sign-up', { email: 'ada@example.com', password: 'correct horse 77' });
    const answer = (await ada.call('GET', path)).json();
    expect(Object.keys(answer)).toEqual(['object', 'model', 'routes', 'changes', 'has_more_changes']);
    expect(answer.routes[0]).toMatchObject({ id: route!.id, windows: { '24h': { availability: 0.75 }, '7d': null } });
    expect(answer.changes).toEqual([
      ...[{ at: '1970-01-01T00:00:00.000Z', digest: 'd', kind: 'price', id: route!.id, field: 'input' }].map((row) => ({
        ...row,
        ...{ from: '1', to: '2', source: 'list', as_of: '2026' },
      })),
    ]);
    expect(asked[0]?.model).toBe(model!.canonicalId);
    expect(asked[0]?.related?.providers).toContain(route!.provider.id);
    expect(asked[0]?.related?.locodes).toContain(route!.locode);
    expect((await ada.call('GET', 'models/nobody/nothing/history')).statusCode).toBe(404);
    expect((await ada.call('GET', 'operator/routes/history')).statusCode).not.toBe(200);
    await app.close();
  });
});
