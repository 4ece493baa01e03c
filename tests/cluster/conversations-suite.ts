/** A conversation whose turns go to both replicas of a fleet stays with a route as it does at one. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../support/client.js';
import type { YamlObject } from '../support/gateway-files.js';
import type { Replicas } from '../support/replicas.js';
import { completion, json } from '../support/scripted-upstream.js';

const names = ['north', 'south', 'west'];
let fleet: Replicas;
let key: string;
/** A provider that answers with an error. */
let broken: string | null = null;

/** Told apart by the model that they are asked for. */
export const conversationCatalogue = (url: string) => ({
  providers: names.map((id) => ({ id, base_url: `${url}/v1`, auth: 'none' })),
  models: [
    {
      creator: 'meta',
      model: 'equal',
      routes: names.map((provider) => ({
        ...{ provider, locode: 'defra', upstream_model: provider },
        price: { input: 1, output: 1, cached_input: 0.1 },
      })),
    },
  ] as YamlObject[],
});

const body = (more: Json) => ({ model: 'auto/meta/equal', messages: [{ role: 'user', content: 'Hello' }], ...more });

/** Turns that go to the replicas in turns. */
async function turns(count: number, more: Json): Promise<{ provider: string; sticky: boolean }[]> {
  const all: { provider: string; sticky: boolean }[] = [];
  for (let i = 0; i < count; i++) {
    const reply = await fleet.all[i % 2]!.chat(body(more), { key });
    expect(reply.status, reply.text).toBe(200);
    const { provider, sticky } = reply.json.router_metadata;
    all.push({ provider, sticky });
  }
  return all;
}

export function conversationsSuite(shared: () => Replicas): void {
  describe('a conversation over two replicas', () => {
    beforeAll(async () => {
      fleet = shared();
      fleet.upstream.onRequest((call) => {
        const { model } = call.json as { model: string };
        return model === broken ? json({ error: { message: 'boom' } }, { status: 500 }) : json(completion());
      });
      ({ key } = await fleet.a.createAccount());
    });

    it('of 20 turns stays with the route that served it', async () => {
      const session = { session_id: 'twenty' };
      expect(await turns(1, { ...session, provider: { order: ['south'] } })).toEqual([
        { provider: 'south', sticky: false },
      ]);
      for (const each of await turns(19, session)) expect(each).toEqual({ provider: 'south', sticky: true });
    });

    it('goes as ranked with sticky: false', async () => {
      const session = { session_id: 'loose' };
      const loose = { ...session, provider: { sticky: false } };
      await turns(1, { ...session, provider: { order: ['west'] } });
      for (let i = 0; i < 20; i++) {
        const replica = fleet.all[i % 2]!;
        const ranked = (await replica.call('POST', '/v1/routes/explain', body(loose), { key })).json.would_serve;
        const { served_model, sticky } = (await replica.chat(body(loose), { key })).json.router_metadata;
        expect([served_model, sticky]).toEqual([ranked, false]);
      }
      expect(await turns(2, session)).toEqual(Array(2).fill({ provider: 'west', sticky: true }));
    });

    it('goes on at one other route when the breakers of its own open in the middle', async () => {
      const session = { session_id: 'breaking' };
      await turns(1, { ...session, provider: { order: ['south'] } });
      for (const each of await turns(9, session)) expect(each).toEqual({ provider: 'south', sticky: true });
      broken = 'south';
      for (const replica of fleet.all) {
        for (let i = 0; i < 5; i++) await replica.chat(body({ model: 'south/meta/equal/defra' }), { key });
      }
      const called = fleet.upstream.calls.length;
      const [moved, ...rest] = await turns(10, session);
      expect(['north', 'west']).toContain(moved!.provider);
      for (const each of rest) expect(each).toEqual({ provider: moved!.provider, sticky: true });
      expect(fleet.upstream.calls.length - called, 'an open breaker is not tried').toBe(10);
    });
  });
}
