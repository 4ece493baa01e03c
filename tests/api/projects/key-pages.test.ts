/** Pages of the lists of keys: of an account, of a project, and for operators. */
import { describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { useGateway } from '../harness.js';
import { managerOf } from './manager.js';

const bench = useGateway();

describe('keys', () => {
  it('are all listed, or in pages where a page is asked for', async () => {
    const manager = await managerOf(bench);
    for (const name of ['one', 'two', 'three']) await manager.call('POST', '/keys', { name });
    const namesOf = async (query: string) =>
      (await manager.call('GET', `/keys${query}`)).json.data.map((key: Json) => key.name);
    const all = await namesOf('');
    expect(all).toHaveLength(5);
    expect(await namesOf('?limit=2')).toEqual(all.slice(0, 2));
    const ids = (await manager.call('GET', '/keys')).json.data.map((key: Json) => key.id);
    expect(await namesOf(`?limit=2&after=${ids[1]}`)).toEqual(all.slice(2, 4));
    expect(await namesOf(`?after=${ids[4]}`)).toEqual([]);
    expect((await manager.call('GET', '/keys?limit=201')).json.error).toMatchObject({ param: 'limit' });
    expect((await manager.call('GET', '/keys?after=x')).json.error).toMatchObject({ param: 'after' });
  });

  it('go on after a key that was deleted since the page before, in every list of keys', async () => {
    const manager = await managerOf(bench);
    for (const name of ['one', 'two', 'three', 'four']) await manager.call('POST', '/keys', { name });
    const keys: Json[] = (await manager.call('GET', '/keys')).json.data;
    const idOf = (name: string) => keys.find((key) => key.name === name)?.id;
    for (const name of ['two', 'four']) await manager.call('DELETE', `/keys/${idOf(name)}`);

    const project = keys.find(({ name }) => name === 'one')?.project;
    const admin = async (query: string) => bench.gateway.admin('GET', `/accounts/${manager.accountId}/keys${query}`);
    const own = (path: string) => async (query: string) => manager.call('GET', `${path}${query}`);
    for (const read of [own('/keys'), own(`/projects/${project}/keys`), admin]) {
      const namesOf = async (query: string) => (await read(query)).json.data.map((key: Json) => key.name);
      expect(await namesOf(`?after=${idOf('two')}`)).toEqual(['three']);
      expect(await namesOf(`?limit=1&after=${idOf('two')}`)).toEqual(['three']);
      expect(await namesOf(`?after=${idOf('four')}`)).toEqual([]);
      for (const unknown of ['x', 'AAAAAAAAAA']) {
        const refused = await read(`?after=${unknown}`);
        expect(refused.status).toBe(400);
        expect(refused.json.error).toMatchObject({ param: 'after' });
      }
    }
  });
});
