/** The limits of a project are shared by its keys and apply beside those of account and key. */
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../support/manual-clock.js';
import { completion, json, usage } from '../../support/scripted-upstream.js';
import { ask, expectError, useGateway } from '../harness.js';
import { managerOf } from './manager.js';

const clock = new ManualClock();
const bench = useGateway({ clock, config: { limits: { key_requests_per_minute: 5, key_tokens_per_minute: 5000 } } });

async function team(limits: object) {
  const manager = await managerOf(bench, { requests_per_minute: null });
  const path = `/accounts/${manager.accountId}`;
  const project = (await bench.gateway.admin('POST', `${path}/projects`, { name: 'team', ...limits })).json;
  const keyOf = async (name: string) =>
    (await bench.gateway.admin('POST', `${path}/keys`, { name, project: project.id })).json.token as string;
  const change = (fields: object) => bench.gateway.admin('PATCH', `${path}/projects/${project.id}`, fields);
  return { ...manager, keys: [await keyOf('one'), await keyOf('two')] as [string, string], change };
}

const ping = (key: string) => bench.gateway.call('GET', '/v1/credits', undefined, { key });
const shown = ({ headers }: { headers: Record<string, unknown> }, what: string) => [
  headers[`x-ratelimit-limit-${what}`],
  headers[`x-ratelimit-remaining-${what}`],
];
const over = (what: string, limit: number) => ({
  ...{ status: 429, type: 'rate_limit_error', code: 'rate_limit_exceeded', retryAfter: '60' },
  says: ['project "team"', what, String(limit)],
});

describe('requests_per_minute of a project', () => {
  it('429 when its keys have used it up together; the headers show the fewest remaining', async () => {
    const { keys, key, change } = await team({ requests_per_minute: 6 });
    expect(shown(await ping(keys[0]), 'requests')).toEqual(['5', '4']);
    for (let n = 0; n < 3; n++) await ping(keys[1]);
    expect(shown(await ping(keys[1]), 'requests')).toEqual(['5', '1']);
    expect((await ping(keys[0])).status).toBe(200);
    for (const each of keys) expectError(await ping(each), over('requests', 6));
    expect(shown(await ping(keys[0]), 'requests')).toEqual(['6', '0']);
    expect((await ping(key)).status, 'a key of another project').toBe(200);
    await change({ requests_per_minute: null });
    expect(shown(await ping(keys[0]), 'requests'), 'refused requests took nothing').toEqual(['5', '2']);
  });
});

describe('tokens_per_minute of a project', () => {
  it('429 when its keys have used it up together, and nothing is called', async () => {
    const { keys } = await team({ tokens_per_minute: 1000 });
    bench.upstream.reply(json(completion({ usage: usage(900, 50) })));
    const first = await bench.gateway.chat(ask(), { key: keys[0] });
    expect(first.status, first.text).toBe(200);
    expect(shown(await ping(keys[1]), 'tokens')).toEqual(['1000', '50']);
    const long = { messages: [{ role: 'user', content: 'word '.repeat(300) }] };
    expectError(await bench.gateway.chat(ask(long), { key: keys[1] }), over('tokens', 1000));
    expect(bench.upstream.calls).toHaveLength(1);
    clock.advance(60_000);
    expect((await bench.gateway.chat(ask(long), { key: keys[1] })).status).toBe(200);
  });
});
