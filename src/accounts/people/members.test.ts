import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../../../tests/support/postgres.js';
import { silentLogger as logger } from '../../base/logger.js';
import type { Account } from '../../domain/account.js';
import { openStore } from '../../storage/open-store.js';
import type { Store } from '../../storage/store.js';
import { Members } from './members.js';

const account = { id: 'acct-1' } as Account;
const operator = { actor: 'operator', standing: null } as const;
const createdAt = Date.parse('2026-03-02T00:00:00Z');

let database: FreshDatabase;
let store: Store;
let members: Members;
beforeAll(async () => {
  database = await freshDatabase();
  store = await openStore({ connection: database.connection, logger });
  await store.accounts.create({ ...account, email: 'a@x.example', name: null, billingCountry: null, createdAt });
  members = new Members({
    people: store.people,
    directory: { keysChanged: async () => {} },
    audit: { record: async () => {} },
    clock: { now: () => createdAt },
  });
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

const developer = (email: string) => members.add(operator, account, { email, role: 'developer', projects: null });

it('parallel changes of one member keep each other', async () => {
  const { person } = await developer('both@x.example');
  for (let round = 0; round < 20; round++) {
    const projects = [`proj-${round}`];
    await Promise.all([
      members.change(operator, account, person.id, { role: 'developer' }),
      members.change(operator, account, person.id, { projects }),
    ]);
    expect((await members.find(account.id, person.id)).memberships[0]!.projects).toEqual(projects);
  }
});

it('a change does not bring a member back who is removed meanwhile', async () => {
  for (let round = 0; round < 20; round++) {
    const { person } = await developer(`gone-${round}@x.example`);
    await Promise.allSettled([
      members.change(operator, account, person.id, { projects: [] }),
      members.remove(operator, account, person.id),
    ]);
    await expect(members.find(account.id, person.id)).rejects.toMatchObject({ condition: 'resource_not_found' });
  }
});

it('of parallel additions of one person the first counts', async () => {
  const added = await Promise.allSettled(Array.from({ length: 6 }, () => developer('once@x.example')));
  expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});
