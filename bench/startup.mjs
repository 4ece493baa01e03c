/** How long `npm start` takes on a built checkout with existing data, and what the first request after that costs. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { serverEnvironment, startLodestone } from './lodestone.mjs';
import { printed, start, stop } from './processes.mjs';
import { scenarios } from './scenarios.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Resolves to one `{readySeconds, firstMs}` a round. */
export async function measureStarts(rig, rounds) {
  rig.log('start: npm start with existing data, then one request');
  // The first start creates the database; what is measured is every start after that.
  const { entry, key, model, configFile, adminToken } = await startLodestone(rig.place('start'));
  await stop(entry);
  const { port } = JSON.parse(readFileSync(configFile, 'utf8')).server;
  const contender = { name: 'lodestone', path: '/v1/chat/completions', port, key, model };
  const results = [];
  for (let round = 0; round < rounds; round++) results.push(await startOnce(rig, contender, configFile, adminToken));
  return results;
}

async function startOnce(rig, contender, configFile, adminToken) {
  const startedAt = performance.now();
  // Not pinned: a user's start has the whole machine.
  const entry = start('npm', ['start', '--', '--config', configFile], {
    core: null,
    env: serverEnvironment(adminToken),
    cwd: root,
  });
  await printed(entry, /(Lodestone is ready)/);
  const readySeconds = (performance.now() - startedAt) / 1000;
  const one = { connections: 1, count: 1, seconds: 10 };
  const direct = await rig.load({ ...(await rig.contender('direct')) }, scenarios.json, one);
  const first = await rig.load(contender, scenarios.json, one);
  await stop(entry);
  return { readySeconds, firstMs: (first.p50Us - direct.p50Us) / 1000 };
}
