/** Sums by the person who held the key and by end user are those of the records, also where only some are asked for. */
import { beforeAll, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { newMember, newOwner, type SignedIn } from '../../support/people.js';
import { ask, useGateway } from '../harness.js';
import { managerOf } from '../projects/manager.js';

const bench = useGateway();
let owner: SignedIn & { accountId: string };
let developer: SignedIn;
let manager: Awaited<ReturnType<typeof managerOf>>;
const sent = { shared: 0, held: 0 };

const countsOf = ({ data }: { data: Json[] }) => data.map(({ group, requests }) => [group, requests]);
const activity = async (query: string) => (await manager.call('GET', `/activity?${query}`)).json;

beforeAll(async () => {
  const { gateway } = bench;
  owner = await newOwner(gateway);
  const { accountId } = owner;
  await gateway.admin('POST', `/accounts/${accountId}/credits`, { amount_usd: '10' });
  await gateway.admin('PATCH', `/accounts/${accountId}`, { record_end_users: true });
  developer = await newMember(gateway, accountId, 'developer');
  manager = await managerOf(bench, {}, accountId);
  const held = (await developer.client.call('POST', 'keys', { name: 'held' })).json.token;
  const shared = (await manager.call('POST', '/keys', { name: 'shared' })).json.token;
  for (const [key, user] of [
    [held, 'ada'],
    [held, undefined],
    [shared, 'ada'],
    [shared, 'alan'],
    [shared, 'ada'],
  ]) {
    await gateway.chat(ask(user ? { user } : {}), { key });
    sent[key === held ? 'held' : 'shared']++;
  }
});

it('groups by holder and by end user, with null for requests without one', async () => {
  expect(countsOf(await activity('group_by=holder'))).toEqual([
    [developer.id, sent.held],
    [null, sent.shared],
  ]);
  expect(countsOf(await activity('group_by=end_user'))).toEqual([
    ['ada', 3],
    ['alan', 1],
    [null, 1],
  ]);
});

it('filters by both, in every group, and the total is of what is asked for', async () => {
  const ofAda = await activity('end_user=ada&group_by=holder');
  expect(countsOf(ofAda)).toEqual([
    [developer.id, 1],
    [null, 2],
  ]);
  expect(ofAda.total.requests).toBe(3);
  const both = await activity(`end_user=ada&holder=${developer.id}&group_by=model`);
  expect(countsOf(both)).toEqual([['meta/llama', 1]]);
  const hour = await activity(`interval=hour&holder=${developer.id}`);
  expect(hour.total).toEqual((await activity(`holder=${developer.id}`)).total);
  expect((await activity('end_user=nobody')).total.requests).toBe(0);
  expect((await activity('end_user=ada&project=proj-unknown')).total.requests).toBe(0);
});

it('operators have the same of all accounts, and the record says who it was', async () => {
  const { gateway } = bench;
  const all = (await gateway.admin('GET', `/activity?account=${owner.accountId}&group_by=holder`)).json;
  expect(all.total.requests).toBe(5);
  const record = (await manager.call('GET', `/generations?holder=${developer.id}&end_user=ada`)).json.data;
  expect(record).toMatchObject([{ holder: developer.id, end_user: 'ada' }]);
});

it('the report of the dashboard names the people, and has the same filters', async () => {
  const report = async (query: string) => (await owner.client.call('GET', `usage/report?${query}`)).json;
  const { groups, totals } = await report('by=holder,end_user,model&compare=previous&carbon=steps');
  expect(totals.requests).toBe(5);
  expect(groups.holder.map(({ id, name, requests }: Json) => [id, name, requests])).toEqual(
    expect.arrayContaining([
      [developer.id, developer.email, 2],
      [null, 'Keys of the project', 3],
    ]),
  );
  expect(groups.end_user).toHaveLength(3);
  expect(groups.model).toMatchObject([{ id: 'meta/llama', requests: 5 }]);
  expect((await report(`by=model&holder=${developer.id}`)).totals.requests).toBe(2);
  expect((await report('by=project&end_user=ada')).totals.requests).toBe(3);
  const csv = (await owner.client.call('GET', 'usage.csv')).text.split('\r\n');
  expect(csv[0]).toMatch(/,project,holder,end_user$/);
  expect(csv.filter((line) => line.endsWith(',ada'))).toHaveLength(3);
});

it('the export of generations takes the same filters, and that of the ledger none of them', async () => {
  const { gateway } = bench;
  const linesOf = async (query: string) => {
    const { text } = await gateway.admin('GET', `/export/generations?account=${owner.accountId}&${query}`);
    return text.split('\n').filter((line) => line !== '').length;
  };
  const projectId = `proj-${owner.accountId.slice(5)}`;
  expect(await linesOf('')).toBe(5);
  expect(await linesOf(`project=${projectId}`)).toBe(5);
  expect(await linesOf('project=proj-unknown')).toBe(0);
  expect(await linesOf(`holder=${developer.id}`)).toBe(2);
  expect(await linesOf(`holder=${developer.id}&end_user=ada`)).toBe(1);
  const refused = await gateway.admin('GET', `/export/ledger?project=${projectId}`);
  expect([refused.status, refused.json.error.param]).toEqual([400, 'project']);
});
