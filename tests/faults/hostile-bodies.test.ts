/** Bodies of nearly 32 MiB made to be hard on a parser: they are answered, and no other caller waits for more than 250 ms. */
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SpawnedGateway } from '../support/gateway.js';
import { type CoTenant, expectUnharmed, measured, startCoTenant } from './co-tenant.js';
import { ask, expectServes, full, pause, pin, type Rig, scaled, spawnRig } from './fixture.js';

let rig: Rig<SpawnedGateway>;
let coTenant: CoTenant;
let sender: Worker;
let watch: () => void;
beforeAll(async () => {
  coTenant = await startCoTenant();
  sender = new Worker(new URL('./hostile-sender.mjs', import.meta.url));
  rig = await spawnRig({
    providers: { co: coTenant.url },
  });
  const { key } = await rig.gateway.createAccount({ credit: '1000.00' });
  watch = () =>
    coTenant.start({ url: rig.gateway.url, key, model: 'co/meta/llama-3.3-70b/defra', pid: rig.gateway.pid });
  watch();
  await pause(1_000);
  await coTenant.finish();
}, 180_000);
afterAll(async () => {
  await rig.stop();
  await coTenant.close();
  await sender.terminate();
});

interface Sent {
  status: number;
  text: string;
  ms: number;
}

const reply = <Message>() => new Promise<Message>((resolve) => sender.once('message', resolve));

async function make(shape: string): Promise<number> {
  sender.postMessage({ make: { shape, model: pin } });
  return (await reply<{ bytes: number }>()).bytes;
}

function post(headers: Record<string, string>, count: number): Promise<Sent[]> {
  sender.postMessage({ post: { url: rig.gateway.url, headers, count } });
  return reply<Sent[]>();
}

const shapes: [string, number][] = [
  ['deep nesting', 400],
  ['tiny numbers', 200],
];
if (full)
  shapes.push(
    ['one string of escapes', 200],
    ['messages', 200],
    ['empty arrays', 200],
    ['keys', 200],
    ['deep nesting of objects', 400],
    ['empty objects in messages', 400],
  );

it.each(shapes)(
  '32 MiB of %s are answered with %i, and a co-tenant never waits 250 ms',
  measured,
  async (shape, wanted) => {
    expect(await make(shape)).toBeGreaterThan(33_000_000);
    const { key } = await rig.gateway.account();
    rig.upstream.reset();
    watch();
    const [sent] = await post({ authorization: `Bearer ${key}` }, 1);
    const delays = await coTenant.finish();
    console.log(
      `Hostile body, ${shape}: ${sent!.status} after ${sent!.ms.toFixed(0)} ms; co-tenant p99 ${delays.p99.toFixed(0)}, max ${delays.max.toFixed(0)} (measured ${delays.measuredMax.toFixed(0)}) ms`,
    );
    expect([sent!.status, sent!.status === wanted || sent!.text]).toEqual([wanted, true]);
    expect(rig.upstream.calls).toHaveLength(wanted === 200 ? 1 : 0);
    expectUnharmed(delays, { max: 250 });
    await expectServes(rig);
  },
);

it('an ordinary request of 300 KB does not wait for a hostile one either', measured, async () => {
  await make('tiny numbers');
  const { key } = await rig.gateway.account();
  const other = await rig.gateway.createAccount();
  rig.upstream.reset();
  const large = ask({ messages: [{ role: 'user', content: 'An ordinary page. '.repeat(17_000) }] });
  const alone = await timed(() => rig.gateway.chat(large, { key: other.key }));
  const hostile = post({ authorization: `Bearer ${key}` }, 1);
  await pause(400);
  const beside = await timed(() => rig.gateway.chat(large, { key: other.key }));
  const [sent] = await hostile;
  console.log(
    `300 KB: alone ${alone.toFixed(0)} ms, beside ${beside.toFixed(0)} ms; hostile ${sent!.ms.toFixed(0)} ms`,
  );
  expect(beside).toBeLessThan(alone * 4 + 250);
});

async function timed(send: () => Promise<{ status: number }>): Promise<number> {
  const startedAt = performance.now();
  expect((await send()).status).toBe(200);
  return performance.now() - startedAt;
}

const parallel = scaled(4, 20);

it(
  `${parallel} parallel posts of 32 MB without a key are all 401, unparsed, and a co-tenant never waits 250 ms`,
  measured,
  async () => {
    await make('one string of escapes');
    rig.upstream.reset();
    watch();
    const sent = await post({}, parallel);
    const wrong = await post({ authorization: `Bearer sk-lr-${'A'.repeat(43)}` }, parallel);
    const delays = await coTenant.finish();
    console.log(
      `co-tenant p99 ${delays.p99.toFixed(0)}, max ${delays.max.toFixed(0)} (measured ${delays.measuredMax.toFixed(0)}) ms`,
    );
    expect(sent.map(({ status, text }) => [status, JSON.parse(text).error.code])).toEqual(
      sent.map(() => [401, 'authentication_error']),
    );
    expect(wrong.map(({ status, text }) => [status, JSON.parse(text).error.code])).toEqual(
      wrong.map(() => [401, 'api_key_not_registered']),
    );
    expect(rig.upstream.calls).toHaveLength(0);
    expectUnharmed(delays, { max: 250 });
    expect((await rig.gateway.chat(ask())).status).toBe(200);
  },
);
