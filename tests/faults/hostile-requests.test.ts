/**
 * Requests that are made to be dear: every field of every body with a large value, in every shape that is dear to read. Whatever the answer
 * is, another tenant does not notice, and the gateway's memory stays bounded. With LODESTONE_FULL=1 all of them are sent, at 1 and at 32 MiB;
 * `LODESTONE_HOSTILE` picks those whose name a regular expression matches.
 */
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as up from '../support/scripted-upstream.js';
import { type CoTenantRig, forgetPeak, residentMb, startCoTenantRig } from './co-tenant.js';
import { expectServes, full, pause } from './fixture.js';
import { largeShapes } from './generator/large-values.mjs';
import { type Place, places } from './generator/request-fields.mjs';

/** Then each is sent once, and its figures are printed. */
const wanted = process.env.LODESTONE_HOSTILE;
const mebibyte = 1024 * 1024;
const bounds = { stallMs: 250, growthMb: 150 };

let rig: CoTenantRig;
let sender: Worker;
let native: up.ScriptedUpstream;
let keys: { model: string; management: string };
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
      models: [task('vectors', 'embedding'), task('ranks', 'rerank')],
    },
  });
  const { accountId, key } = await rig.gateway.createAccount({ credit: '1000000.00' });
  const made = await rig.gateway.admin('POST', `/accounts/${accountId}/keys`, { name: 'manager', kind: 'management' });
  keys = { model: key, management: made.json.token as string };
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

const nameOf = ({ method, path, model, field, shape, bytes, isMessage }: Case): string =>
  `${isMessage ? 'WS' : method} ${path} ${model.split('/')[0]} ${field}, ${Math.round(bytes / mebibyte)} MiB of ${shape}`;

function placeOf(path: string, field: string, provider = 'acme'): Place {
  const found = places.find(
    (place) => place.path === path && place.field === field && (place.model === '' || place.model.startsWith(provider)),
  );
  if (!found) throw new Error(`There is no field ${field} at ${path}.`);
  return found;
}

const reply = <Message>() => new Promise<Message>((resolve) => sender.once('message', resolve));

async function send({ template, shape, bytes, method, path, model, isMessage }: Case): Promise<Outcome> {
  const opened = isMessage ? template.replace('{', '{"type":"response.create",') : template;
  sender.postMessage({ make: { template: opened, shape, bytes: bytes - 64 } });
  await reply();
  const headers = { authorization: `Bearer ${model === '' ? keys.management : keys.model}` };
  const call = { url: rig.gateway.url, method, path, headers };
  sender.postMessage(isMessage ? { message: call } : { post: call });
  const [outcome] = await reply<Outcome[]>();
  return outcome!;
}

/** Sends it beside a co-tenant, and says what exceeds the bounds; an empty list where nothing does. */
async function faultsOf(hostile: Case): Promise<string[]> {
  const { pid } = rig.gateway;
  rig.upstream.reset();
  native.reset();
  forgetPeak(pid);
  rig.watch();
  await pause(50);
  const { status, text, ms } = await send(hostile);
  await pause(100);
  const delays = await rig.coTenant.finish();
  const growthMb = residentMb(pid).peak - restMb;
  console.log(
    `${nameOf(hostile)}: ${status} after ${ms.toFixed(0)} ms, stall ${delays.max.toFixed(0)} ms, +${growthMb.toFixed(0)} MB, +${(residentMb(pid).now - restMb).toFixed(0)} MB afterwards`,
  );
  return [
    ...(status === 0 || status === 500 ? [`the answer is ${status} ${text.slice(0, 200)}`] : []),
    ...(status >= 400 && text.length > 1_500 ? [`the error has ${text.length} characters`] : []),
    ...(delays.failures.length > 0 ? [`another tenant got ${delays.failures[0]}`] : []),
    ...(delays.max > bounds.stallMs ? [`another tenant waited ${delays.max.toFixed(0)} ms`] : []),
    ...(growthMb > bounds.growthMb ? [`memory grew by ${growthMb.toFixed(0)} MB`] : []),
  ];
}

/** A busy machine can spoil a figure; what is really slow is slow each time. */
async function expectBounded(hostile: Case): Promise<string[]> {
  let faults: string[] = [];
  for (let tries = 0; tries < (wanted === undefined ? 3 : 1); tries++) {
    faults = await faultsOf(hostile);
    if (faults.length === 0) return [];
    await pause(5_000);
  }
  return faults.map((fault) => `${nameOf(hostile)}: ${fault}`);
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
  { ...placeOf('/v1/responses', 'input', 'respond'), shape: 'tiny objects', bytes: 16 * mebibyte, isMessage: true },
];

const all = [1, 32].flatMap((size) =>
  places.flatMap((place) =>
    largeShapes.flatMap((shape): Case[] => {
      const one = { ...place, shape, bytes: size * mebibyte };
      return place.path === '/v1/responses' ? [one, { ...one, isMessage: true }] : [one];
    }),
  ),
);
const chosen = (full ? all : sample).filter((each) => wanted === undefined || new RegExp(wanted).test(nameOf(each)));
const groups = new Map<string, Case[]>();
for (const each of chosen) {
  const group = `${each.path} at ${Math.round(each.bytes / mebibyte)} MiB`;
  groups.set(group, [...(groups.get(group) ?? []), each]);
}

describe('no request with a large value in one of its fields is noticed by another tenant', () => {
  it.each([...groups])('%s', { timeout: 3 * 3_600_000 }, async (_, cases) => {
    const faults: string[] = [];
    for (const each of cases) faults.push(...(await expectBounded(each)));
    expect(faults).toEqual([]);
    await expectServes(rig);
  });
});
