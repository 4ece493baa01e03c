/**
 * An upgrade from an earlier version and back, process by process and under load, of a fleet whose people stay signed in: nothing is lost and
 * nobody is locked out. LODESTONE_BEFORE names the checkout of that version, which is built; without it this is skipped by name.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, pause, pico, scaled } from '../faults/fixture.js';
import type { Json, Reply } from '../support/client.js';
import { DashboardClient } from '../support/dashboard-client.js';
import type { SpawnedGateway } from '../support/gateway.js';
import { newAddress, password } from '../support/people.js';
import { type Replicas, startReplicas } from '../support/replicas.js';
import { CountedTraffic } from './counted-traffic.js';

const before = process.env.LODESTONE_BEFORE ?? '';
const isBuilt = before !== '' && existsSync(join(before, 'dist'));
const requestsPerSecond = scaled(15, 60);
const pauseMs = scaled(500, 5_000);

let fleet: Replicas;

/** Somebody whose browser keeps its cookies while the gateways behind the address change. */
class Person {
  private cookies: readonly (readonly [string, string])[] = [];
  readonly email = newAddress('before');

  async call(gateway: SpawnedGateway, method: string, path: string, body?: Json): Promise<Reply> {
    const client = new DashboardClient(gateway.url);
    for (const [name, value] of this.cookies) client.cookies.set(name, value);
    const reply = await client.call(method, path, body);
    this.cookies = [...client.cookies];
    return reply;
  }

  async made(gateway: SpawnedGateway, path: string, body: Json): Promise<Json> {
    const reply = await this.call(gateway, 'POST', path, body);
    expect(reply.status, reply.text).toBe(201);
    return reply.json;
  }
}

async function expectServed(keys: readonly unknown[]): Promise<void> {
  for (const gateway of fleet.all) {
    for (const key of keys) {
      const reply = await gateway.chat(ask(), { key: String(key) });
      expect(reply.status, reply.text).toBe(200);
    }
  }
}

/** In the session that began before the first upgrade. */
async function expectSignedIn(person: Person): Promise<void> {
  for (const gateway of fleet.all) {
    const { json } = await person.call(gateway, 'GET', 'session');
    expect(json, 'the session').toMatchObject({ signed_in: true, account: { email: person.email } });
    expect((await person.call(gateway, 'GET', 'keys')).status).toBe(200);
  }
}

describe.skipIf(!isBuilt)('an earlier version (LODESTONE_BEFORE names its checkout)', () => {
  beforeAll(async () => {
    fleet = await startReplicas({ checkout: before, config: { registration: 'open' } });
  }, 240_000);
  afterAll(() => fleet?.stop());

  it('every process is replaced, and put back, under load: no request fails, sessions and keys stay, budgets count all of it', async () => {
    const { a, b, all } = fleet;
    const person = new Person();
    const signedUp = await person.call(a, 'POST', 'sign-up', { email: person.email, password });
    expect(signedUp.status, signedUp.text).toBe(201);
    const accountId = String((await person.call(a, 'GET', 'session')).json.account.id);
    expect((await a.admin('POST', `/accounts/${accountId}/credits`, { amount_usd: '10' })).status).toBe(201);
    const old = (await person.made(a, 'keys', { name: 'before' })).token;
    await expectServed([old]);

    const traffic = await CountedTraffic.begin(fleet);
    const away = new Set<SpawnedGateway>();
    const load = traffic.steady(requestsPerSecond, () => all.filter((replica) => !away.has(replica)));
    const replace = async (replica: SpawnedGateway, checkout?: string) => {
      away.add(replica);
      await load.answered(replica);
      await replica.restart(checkout);
      away.delete(replica);
      await pause(pauseMs);
    };
    try {
      await pause(pauseMs);
      await replace(a);
      // Both versions at once.
      await expectSignedIn(person);
      const between = [
        (await person.made(a, 'keys', { name: 'new' })).token,
        (await person.made(b, 'keys', { name: 'old' })).token,
      ];
      await expectServed([old, ...between]);
      await replace(b);
      await expectSignedIn(person);
      const project = await person.made(a, 'projects', { name: 'search', budget: { limit_usd: '5', period: 'never' } });
      const ofProject = (await person.made(b, 'keys', { name: 'search', project: project.id as string })).token;
      await person.call(a, 'PATCH', 'account', { budget: { limit_usd: '8', period: 'never' } });
      const keys = [old, ...between, ofProject];
      await expectServed(keys);

      await replace(a, before);
      await expectServed(keys);
      await replace(b, before);
      await expectSignedIn(person);
      await expectServed(keys);
      const again = new Person();
      expect((await again.call(a, 'POST', 'sign-in', { email: person.email, password })).status).toBe(200);

      await replace(b);
      await replace(a);
      await expectSignedIn(person);
      await expectServed(keys);
      const spent = -(await used(accountId)).reduce((sum, amount) => sum + amount, 0n);
      const { json: budget } = await b.call('GET', '/v1/budget', undefined, { key: String(ofProject) });
      expect(pico(budget.account.spent_usd)).toBe(spent);
      expect(budget.project.limit_usd).toBe('5');
      const members = await person.call(a, 'GET', 'members');
      expect(members.json.data).toMatchObject([{ email: person.email, role: 'owner' }]);
    } finally {
      await load.stop();
    }
    const failed = traffic.outcomes.filter(({ fault }) => fault !== '');
    expect(failed.map(({ status, fault }) => `${status} ${fault}`)).toEqual([]);
    const { held, lost, broken } = await traffic.expectBooks();
    expect([held, lost, broken]).toEqual([traffic.outcomes.length, 0, 0]);
    console.log(`${held} requests while every process was upgraded, put back and upgraded again: none failed`);
    expect((await a.admin('GET', '/storage/check')).json).toMatchObject({ ok: true, faults: [] });
  }, 600_000);
});

async function used(accountId: string): Promise<bigint[]> {
  await fleet.a.admin('GET', `/accounts/${accountId}/ledger?limit=1`);
  await pause(1_500);
  const { json } = await fleet.a.admin('GET', `/accounts/${accountId}/ledger?limit=100000`);
  const entries = json.data as { kind: string; amount_usd: string }[];
  return entries.filter(({ kind }) => kind === 'usage').map(({ amount_usd }) => pico(amount_usd));
}
