/**
 * Requests that are made to be dear: every field of every body with a large value, in every shape that is dear to read. Whatever the answer
 * is, another tenant does not notice, and the gateway's memory stays bounded. tests/long/hostile-requests.mjs sends more of them.
 */
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminToken } from '../support/gateway-files.js';
import * as up from '../support/scripted-upstream.js';
import { SeededRandom } from '../support/seeded-random.js';
import { type CoTenantRig, forgetPeak, residentMb, startCoTenantRig } from './co-tenant.js';
import { expectServes, pause } from './fixture.js';
import { largeShapes } from './generator/large-values.mjs';
import { type Place, places } from './generator/request-fields.js';

/** What tests/long/hostile-requests.mjs asks for. */
const asked = JSON.parse(process.env.LODESTONE_HOSTILE ?? 'null') as Asked | null;
const mebibyte = 1024 * 1024;
const bounds = { stallMs: 250, growthMb: 150, leftMb: 100, calmMs: 5_000 };

interface Asked {
  readonly mebibytes: number[];
  readonly minutes: number;
  readonly seed: number;
  /** A regular expression for the name of a case. */
  readonly only: string;
  /** How many are sent one behind the other as one case, which saves most of the time. */
  readonly together: number;
  /** How many of the order that the seed decides are left out, because they ran before. */
  readonly skip: number;
}

let rig: CoTenantRig;
let sender: Worker;
let native: up.ScriptedUpstream;
/** The headers of each caller, and what stands in a path. */
let headersOf: Record<Place['caller'], Record<string, string>>;
let ids: Record<string, string>;
let restMb: number;
beforeAll(async () => {
  sender = new Worker(new URL('./hostile-sender.mjs', import.meta.url));
  const task = (model: string, kind: string) => ({
    ...{ creator: 'meta', model, kind },
    routes: [{ provider: 'acme', locode: 'defra', upstream_model: 'upstream-model', price: { input: 1, output: 0 } }],
  });
  native = await up.startUpstream();
  rig = await startCoTenantRig({
    config: {
      breaker: { failures: 1_000_000 },
      limits: { ip_requests_per_minute: 1e9, key_requests_per_minute: 1e9, key_tokens_per_minute: 1e12 },
    },
    providers: { claude: native.url, respond: native.url },
    catalogue: {
      providers: { claude: { dialect: 'anthropic' }, respond: { apis: ['chat', 'responses', 'compact'] } },
      models: [task('vectors', 'embedding'), task('ranks', 'rerank'), task('spare', 'rerank')],
    },
  });
  await enter();
  // What ordinary large requests need for the first time is there: the threads, and the memory that the allocator keeps for the next one.
  for (const bytes of [2 * mebibyte, 32 * mebibyte, 32 * mebibyte]) {
    await send({ ...placeOf('/v1/chat/completions', 'messages[].content'), shape: 'one long text', bytes });
    await pause(500);
  }
  restMb = residentMb(rig.gateway.pid).now;
}, 180_000);
afterAll(async () => {
  await rig?.stop();
  await native?.stop();
  await sender.terminate();
});

/** The accounts that send, and those that a path names: what is changed there disturbs nobody. */
async function enter(): Promise<void> {
  const { gateway } = rig;
  const { accountId, key } = await gateway.createAccount({ credit: '1000000.00' });
  const management = await gateway.admin('POST', `/accounts/${accountId}/keys`, {
    name: 'manager',
    kind: 'management',
  });
  const spare = await gateway.createAccount({ credit: '1.00' });
  const made = await gateway.admin('POST', `/accounts/${accountId}/keys`, { name: 'spare' });
  const password = 'a long and unusual passphrase';
  const email = 'user@example.test';
  const user = await gateway.admin('POST', '/accounts', { email, password });
  await gateway.admin('POST', `/accounts/${String(user.json.id)}/credits`, { amount_usd: '1000000.00' });
  const page = { 'x-lodestone-dashboard': '1', 'content-type': 'application/json' };
  const signIn = { method: 'POST', headers: page, body: JSON.stringify({ email, password }) };
  const cookies = (await fetch(`${gateway.url}/dashboard/api/sign-in`, signIn)).headers.getSetCookie();
  expect(cookies).not.toEqual([]);
  headersOf = {
    account: { authorization: `Bearer ${key}` },
    management: { authorization: `Bearer ${String(management.json.token)}` },
    admin: { authorization: `Bearer ${adminToken}` },
    browser: { ...page, cookie: cookies.map((cookie) => cookie.split(';', 1)[0]).join('; ') },
  };
  ids = {
    ...{ name: 'spare', creator: 'meta', model: 'spare', key_id: String(made.json.id) },
    ...{ account: spare.accountId, key: String(made.json.id) },
  };
}

const idIn = (path: string, name: string): string =>
  encodeURIComponent(ids[name === 'id' ? (path.startsWith('/admin') ? 'account' : 'key') : name] ?? 'none');

interface Case extends Place {
  readonly shape: string;
  readonly bytes: number;
  /** Sent as a message of a WebSocket. */
  readonly isMessage?: boolean;
}

interface Outcome {
  readonly status: number;
  readonly text: string;
  readonly ms: number;
}

const sizeText = (bytes: number): string => `${Number((bytes / mebibyte).toFixed(2))} MiB`;

const nameOf = ({ method, path, model, field, shape, bytes, isMessage }: Case): string =>
  `${isMessage ? 'WS' : method} ${path} ${model.split('/')[0]} ${field}, ${sizeText(bytes)} of ${shape}`;

function placeOf(path: string, field: string, provider = 'acme'): Place {
  const found = places.find(
    (place) => place.path === path && place.field === field && (place.model === '' || place.model.startsWith(provider)),
  );
  if (!found) throw new Error(`There is no field ${field} at ${path}.`);
  return found;
}

const reply = <Message>() => new Promise<Message>((resolve) => sender.once('message', resolve));

async function send({ template, field, shape, bytes, method, path, caller, isMessage }: Case): Promise<Outcome> {
  const opened = isMessage && field !== 'type' ? template.replace('{', '{"type":"response.create",') : template;
  sender.postMessage({ make: { template: opened, shape, bytes: bytes - 64 } });
  await reply();
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => idIn(path, name));
  const call = { url: rig.gateway.url, method, path: filled, headers: headersOf[caller] };
  sender.postMessage(isMessage ? { message: call } : { post: call });
  const [outcome] = await reply<Outcome[]>();
  return outcome!;
}

/** Sends them, one behind the other, beside a co-tenant, and says what exceeds the bounds; an empty list where nothing does. */
async function faultsOf(cases: readonly Case[]): Promise<string[]> {
  const { pid } = rig.gateway;
  rig.upstream.reset();
  native.reset();
  forgetPeak(pid);
  rig.watch();
  await pause(50);
  const answers: string[] = [];
  const faults: string[] = [];
  for (const hostile of cases) {
    const { status, text, ms } = await send(hostile);
    answers.push(`${nameOf(hostile)}: ${status} after ${ms.toFixed(0)} ms`);
    if (status === 0 || status === 500) faults.push(`the answer is ${status} ${text.slice(0, 200)}`);
    if (status >= 400 && text.length > 1_500) faults.push(`the error has ${text.length} characters`);
  }
  await pause(100);
  const delays = await rig.coTenant.finish();
  const growthMb = residentMb(pid).peak - restMb;
  const leftMb = await memoryLeft();
  console.log(
    `${answers.join('\n')}, stall ${delays.max.toFixed(0)} ms, +${growthMb.toFixed(0)} MB, +${leftMb.toFixed(0)} MB afterwards`,
  );
  return [
    ...faults,
    ...(delays.failures.length > 0 ? [`another tenant got ${delays.failures[0]}`] : []),
    ...(delays.max > bounds.stallMs ? [`another tenant waited ${delays.max.toFixed(0)} ms`] : []),
    ...(leftMb > bounds.leftMb ? [`${leftMb.toFixed(0)} MB are left`] : []),
    ...(growthMb > bounds.growthMb ? [`memory grew by ${growthMb.toFixed(0)} MB`] : []),
  ];
}

/** What the gateway has kept, at the latest five seconds after the end. */
async function memoryLeft(): Promise<number> {
  const until = performance.now() + bounds.calmMs;
  for (;;) {
    const left = residentMb(rig.gateway.pid).now - restMb;
    if (left <= bounds.leftMb || performance.now() > until) return left;
    await pause(100);
  }
}

/** A busy machine can spoil a figure; what is really slow is slow each time. */
async function expectBounded(hostile: Case): Promise<string[]> {
  let faults: string[] = [];
  for (let tries = 0; tries < 3; tries++) {
    faults = await faultsOf([hostile]);
    if (faults.length === 0) return [];
    await pause(5_000);
  }
  return faults.map((fault) => `${nameOf(hostile)}: ${fault}`);
}

/** What is within the bounds in a row is so alone; what is not is tried alone. */
async function expectAllBounded(cases: readonly Case[]): Promise<string[]> {
  if (cases.length > 1 && (await faultsOf(cases)).length === 0) return [];
  await memoryLeft();
  const faults: string[] = [];
  for (const each of cases) faults.push(...(await expectBounded(each)));
  return faults;
}

const provider = placeOf('/v1/chat/completions', 'provider');
const sample: Case[] = [
  { ...provider, shape: 'members', bytes: 7 * mebibyte },
  { ...provider, shape: 'members', bytes: 32 * mebibyte },
  { ...placeOf('/v1/messages', '(top level)'), shape: 'members', bytes: 32 * mebibyte },
  { ...placeOf('/v1/responses', '(top level)', 'respond'), shape: 'members', bytes: 32 * mebibyte },
  { ...placeOf('/v1/chat/completions', 'provider.order'), shape: 'tiny texts', bytes: 32 * mebibyte },
  { ...placeOf('/v1/chat/completions', 'service_tier'), shape: 'one long text', bytes: 25 * mebibyte },
  { ...placeOf('/v1/chat/completions', 'model'), shape: 'one long text', bytes: 25 * mebibyte },
  { ...placeOf('/v1/messages', 'messages[].content', 'claude'), shape: 'parts that are read', bytes: 24 * mebibyte },
  {
    ...placeOf('/v1/responses', 'input[].content'),
    shape: 'parts that are read',
    // At 32 MiB it is at the bound of memory: 144 to 162 MB.
    bytes: 24 * mebibyte,
    isMessage: true,
  },
  {
    ...placeOf('/v1/routes/explain', 'messages: messages[].content'),
    shape: 'texts that are read',
    bytes: 32 * mebibyte,
  },
  { ...placeOf('/v1/responses', 'input', 'respond'), shape: 'tiny objects', bytes: 16 * mebibyte, isMessage: true },
];

/** Just below what is parsed at all of a body that sets something. */
const controlBytes = 255 * 1024;

/** In an order that the seed decides, those of controls also with what is still parsed of them. */
function everyCase({ mebibytes, seed, only }: Asked): Case[] {
  const named = new RegExp(only);
  const cases = places.flatMap((place) =>
    largeShapes.flatMap((shape) =>
      [...(place.model === '' ? [controlBytes] : []), ...mebibytes.map((size) => size * mebibyte)].flatMap(
        (bytes): Case[] => {
          const one = { ...place, shape, bytes };
          return place.path === '/v1/responses' ? [one, { ...one, isMessage: true }] : [one];
        },
      ),
    ),
  );
  const random = new SeededRandom(seed);
  return cases
    .filter((each) => named.test(nameOf(each)))
    .map((each) => ({ each, key: random.next() }))
    .sort((a, b) => a.key - b.key)
    .map(({ each }) => each);
}

describe('no request with a large value in one of its fields is noticed by another tenant', () => {
  it.runIf(asked === null).each(sample.map((each) => [nameOf(each), each] as const))('%s', async (_, each) => {
    expect(await expectBounded(each)).toEqual([]);
    await expectServes(rig);
  });

  it.runIf(asked !== null)('as many as there is time for', { timeout: 24 * 3_600_000 }, async () => {
    const { minutes, seed, skip, together } = asked!;
    const cases = everyCase(asked!);
    const endsAt = performance.now() + minutes * 60_000;
    const faults: string[] = [];
    let at = skip;
    for (; at < cases.length && performance.now() <= endsAt; at += together)
      faults.push(...(await expectAllBounded(cases.slice(at, at + together))));
    console.log(`${skip} to ${Math.min(at, cases.length)} of ${cases.length} cases ran, seed ${seed}`);
    expect(at).toBeGreaterThan(skip);
    expect(faults).toEqual([]);
    await expectServes(rig);
  });
});
