/** A gateway with one scripted identity provider under two ids, whose groups give roles in accounts that are there before it starts. */
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Json } from '../../support/client.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import { ManualClock } from '../../support/manual-clock.js';
import { newOwner, type SignedIn } from '../../support/people.js';
import { type FreshDatabase, freshDatabase } from '../../support/postgres.js';
import { ScriptedProvider } from '../../support/scripted-provider.js';

export const accountCount = 40;

export interface Rig {
  provider: ScriptedProvider;
  gateway: TestGateway;
  clock: ManualClock;
  /** The owner of the account that most groups are about. */
  boss: SignedIn & { accountId: string };
  /** The id of one of its projects. */
  search: string;
  warnings: string[];
}

/** Calls `started` before the first test of the file. */
export function useProvider(started: (rig: Rig) => void): void {
  let database: FreshDatabase;
  let rig: Rig;
  beforeAll(async () => {
    const provider = await new ScriptedProvider().start();
    const clock = new ManualClock(Date.now());
    const warnings: string[] = [];
    provider.now = () => clock.now();
    database = await freshDatabase();
    const storage = { database_url: database.databaseUrl };
    const before = await startGateway({ clock, embedded: true, config: { storage } });
    const boss = await newOwner(before);
    const search = (await boss.client.call('POST', 'projects', { name: 'search' })).json.id;
    const accounts: string[] = [];
    for (let i = 0; i < accountCount; i++)
      accounts.push((await before.admin('POST', '/accounts', { email: `a${i}@example.test` })).json.id);
    await before.stop();
    const main = { account: boss.accountId };
    const grants = [
      { group: 'eng', ...main, role: 'developer', projects: ['search', 'nowhere'] },
      { group: 'chat', ...main, role: 'developer', projects: [`proj-${boss.accountId.slice(5)}`] },
      { group: 'leads', ...main, role: 'admin' },
      { group: 'owners', account: accounts[0], role: 'owner' },
      { group: 'lost', ...main, role: 'developer', projects: ['nowhere'] },
      { group: 'elsewhere', account: 'acct-unknown', role: 'owner' },
      { group: 'platform', operator: true },
      ...accounts.map((account) => ({ group: 'everywhere', account, role: 'auditor' })),
    ];
    const oidc = [
      provider.settings({ grants, acr_values: ['urn:strong'] }),
      provider.settings({ id: 'trusting', domains: ['trusted.example.com'], trust_email: true, grants }),
    ];
    const logger = { debug() {}, info() {}, error() {}, warn: (_: object, text: string) => void warnings.push(text) };
    const signIn = { require_two_factor_for_operators: true, oidc };
    const gateway = await startGateway({
      clock,
      embedded: true,
      logger: logger as never,
      config: { storage, sign_in: signIn },
    });
    rig = { provider, gateway, clock, boss, search: String(search), warnings };
    started(rig);
  }, 120_000);
  beforeEach(() => rig.provider.reset());
  afterAll(async () => {
    await rig?.gateway.stop();
    await rig?.provider.stop();
    await database?.drop();
  });
}

let count = 0;
/** The claims of somebody new. */
export function somebody(groups: string[] = [], more: Json = {}): Json {
  const name = `somebody-${++count}`;
  return { sub: name, email: `${name}@example.com`, groups, ...more };
}
