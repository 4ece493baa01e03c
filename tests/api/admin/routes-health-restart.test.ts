/** Holds and used quotas are not lost with the process. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type SpawnedGateway, spawnGateway } from '../../support/gateway.js';
import { json, type ScriptedUpstream, startUpstream } from '../../support/scripted-upstream.js';
import { chatCatalogue, model, route } from '../catalogue.js';
import { ask } from '../harness.js';

let upstream: ScriptedUpstream;
let gateway: SpawnedGateway;

beforeAll(async () => {
  upstream = await startUpstream();
  const models = [model('spent', [route()]), model('limited', [route({ daily_token_quota: 30 })])];
  gateway = await spawnGateway({ catalogue: chatCatalogue(upstream.url, models) });
}, 180_000);
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

const chat = async (name: string) => (await gateway.chat(ask({ model: `acme/meta/${name}/defra` }))).status;
const dayOf = (date: Date) => date.toISOString().slice(0, 10);

it('kill -9: a held route stays held, and what was used of a quota today still counts', async () => {
  const day = dayOf(new Date());
  upstream.enqueue(json({ error: { message: 'tokens per day (TPD) reached' } }, { status: 429 }));
  expect(await chat('spent')).toBe(503);
  // 12 tokens an answer: 24 of 30.
  expect([await chat('limited'), await chat('limited')]).toEqual([200, 200]);
  await gateway.kill('SIGKILL');
  await gateway.restart();
  const calls = upstream.calls.length;
  const outcomes = [await chat('spent'), await chat('limited'), await chat('limited')];
  // At midnight UTC everything starts again, and nothing can be said.
  if (dayOf(new Date()) !== day) return;
  expect(outcomes).toEqual([503, 200, 503]);
  expect(upstream.calls.length - calls).toBe(1);
}, 180_000);
