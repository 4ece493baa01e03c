/** SIGHUP in a fleet: what one replica reads anew, all of them use. */
import { rmSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { ask } from '../faults/fixture.js';
import { DashboardClient } from '../support/dashboard-client.js';
import type { SpawnedGateway } from '../support/gateway.js';
import { adminToken } from '../support/gateway-files.js';
import type { Replicas } from '../support/replicas.js';
import { adminFile, catalogueAt, good, metricsFile, metricsToken, pinOf } from './changing-fleet.js';

let fleet: Replicas;

/** The last of a fleet that is a `changingFleet`: it leaves another admin token. */
export function reloadSuite(shared: () => Replicas): void {
  describe('a reload', () => {
    beforeAll(() => {
      fleet = shared();
      fleet.upstream.onRequest(() => undefined);
    });

    it('SIGHUP to one replica takes changed tokens and catalogues into use at both, and ends the sessions that the old token elevated', async () => {
      const newToken = 'another-admin-token-of-no-value';
      const status = async (at: SpawnedGateway, path: string, key: string) =>
        (await at.call('GET', path, undefined, { key })).status;
      /** A header that only a proxy sends: the scrape does not come from this host. */
      const scrape = async (at: SpawnedGateway, key: string) =>
        (await at.call('GET', '/metrics', undefined, { key, headers: { 'x-forwarded-for': '203.0.113.9' } })).status;
      const payer = await fleet.a.createAccount();
      const elevated = new DashboardClient(fleet.b.url);
      await good(
        201,
        elevated.call('POST', 'sign-up', { email: 'operator@example.test', password: 'correct horse 77' }),
      );
      const plain = new DashboardClient(fleet.b.url);
      await good(201, plain.call('POST', 'sign-up', { email: 'person@example.test', password: 'correct horse 77' }));
      await good(200, elevated.call('POST', 'operator', { admin_token: adminToken }));
      expect((await elevated.call('GET', 'session')).json.operator).toBe(true);
      expect([await scrape(fleet.b, metricsToken), await scrape(fleet.b, `${metricsToken}-2`)]).toEqual([200, 401]);

      writeFileSync(adminFile, `${newToken}\n`);
      writeFileSync(metricsFile, `${metricsToken}-2`);
      for (const { files } of fleet.all) files.writeCatalogue(catalogueAt(fleet.upstream.url, 77));
      fleet.a.signal('SIGHUP');
      const timeout = { timeout: 60_000, interval: 100 };
      for (const at of fleet.all) {
        // Asked without a token that is wrong, because failures are counted.
        await vi.waitFor(async () => expect(await scrape(at, `${metricsToken}-2`)).toBe(200), timeout);
        expect(await scrape(at, metricsToken)).toBe(401);
        expect([
          await status(at, '/admin/v1/routes', newToken),
          await status(at, '/admin/v1/routes', adminToken),
        ]).toEqual([200, 401]);
        // The catalogue is read after the tokens, so a request between the two still has the old price.
        await vi.waitFor(async () => {
          const { json: answer } = await at.chat(ask({ model: pinOf('priced') }), { key: payer.key });
          expect(Number(answer.usage?.cost).toFixed(9)).toBe((77 * 12e-6).toFixed(9));
        }, timeout);
      }
      expect((await elevated.call('GET', 'session')).json.operator).not.toBe(true);
      expect((await elevated.call('GET', 'keys')).status).toBe(401);
      expect((await plain.call('GET', 'keys')).status).toBe(200);

      // A configuration that cannot be read locks nobody out.
      rmSync(adminFile);
      const refused = () => fleet.a.output.stderr.split('the tokens in use stay').length;
      const before = refused();
      fleet.a.signal('SIGHUP');
      await vi.waitFor(() => expect(refused()).toBeGreaterThan(before), timeout);
      expect(await status(fleet.a, '/admin/v1/routes', newToken)).toBe(200);
    }, 180_000);
  });
}
