/** The gateways that `npm run bench` measures: Lodestone in several settings, the bare proxy, nginx if it is installed, and no gateway. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { doors } from './doors.mjs';
import { autoModel, classesModel, modelName, nativeModels, startLodestone } from './lodestone.mjs';
import { startNginx } from './peer-proxies.mjs';
import { printed, start } from './processes.mjs';
import { startRedis } from './redis.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const loopWatch = join(here, 'loop-watch.mjs');

/** Each takes the rig and resolves to `{port, pid, key, model}`, or throws LeftOut. */
export const starters = {
  /** The upstream itself, for the latency that a gateway adds. */
  direct: async ({ upstreamPort }) => ({ port: upstreamPort }),
  bare: startBare,
  nginx: startNginx,
  lodestone: (rig) => startLodestone(rig.place('lodestone')),
  /** Without the log of receipts. */
  'without-proof': (rig) => startLodestone({ ...rig.place('without-proof'), more: { proof: { enabled: false } } }),
  /** The same process, asked to choose among ten candidates. */
  auto: async (rig) => ({ ...(await rig.contender('lodestone')), model: autoModel }),
  /** The same, in a conversation with a name, whose route is remembered. */
  conversation: async (rig) => ({ ...(await rig.contender('auto')), headers: 'x-session-id: bench\r\n' }),
  /** A process that remembers no conversations. */
  forgetful: (rig) => startLodestone({ ...rig.place('forgetful'), more: { routing: { sticky: false } } }),
  /** The same process, asked for a route with a price for every class. */
  classes: async (rig) => ({ ...(await rig.contender('lodestone')), model: classesModel }),
  /** The same process, with a key that has a cap, and with one of an account that has a bounded overdraft. */
  capped: async (rig) => withKey(await rig.contender('lodestone'), 'cappedKey'),
  bounded: async (rig) => withKey(await rig.contender('lodestone'), 'boundedKey'),
  /** With budgets of account and project and a cap of the key. */
  budgeted: async (rig) => withKey(await rig.contender('lodestone'), 'budgetedKey'),
  /** The same process, asked by a name of the operator, and with a token of another system. */
  named: async (rig) => ({ ...(await rig.contender('lodestone')), model: modelName }),
  foreign: async (rig) => withKey(await rig.contender('lodestone'), 'foreignKey'),
  /** The same process, asked through another client API: on a route that speaks it, and on the usual one. */
  messages: (rig) => throughDoor(rig, 'messages', nativeModels.messages),
  responses: (rig) => throughDoor(rig, 'responses', nativeModels.responses),
  'messages-translated': (rig) => throughDoor(rig, 'messages'),
  'responses-translated': (rig) => throughDoor(rig, 'responses'),
  /** The same two in a fleet. */
  'fleet-capped': async (rig) => withKey(await rig.contender('fleet'), 'cappedKey'),
  'fleet-bounded': async (rig) => withKey(await rig.contender('fleet'), 'boundedKey'),
  /** The same gateway as one of many, with a Redis. */
  fleet: async (rig) => {
    const redis = await startRedis(rig);
    return startLodestone({ ...rig.place('fleet'), more: { storage: { redis_url: redis.url } } });
  },
  /** The same as `lodestone`, in a process that has served nothing. */
  fresh: (rig) => startLodestone(rig.place(`fresh-${rig.freshCount++}`)),
  /** A gateway that reports the pauses of its event loop; the watching costs CPU, so nothing else is measured on it. */
  watched: async (rig) => {
    const file = join(rig.folder, 'loop.json');
    const env = { NODE_OPTIONS: `--import=${loopWatch}`, BENCH_LOOP_FILE: file };
    return { ...(await startLodestone({ ...rig.place('watched'), env })), loopFile: file };
  },
};

const withKey = (contender, name) => ({ ...contender, key: contender[name] });

async function throughDoor(rig, name, model) {
  const { path, request } = doors[name];
  const contender = await rig.contender('lodestone');
  return { ...contender, path, request, ...(model && { model }) };
}

async function startBare({ upstreamPort }) {
  const entry = start(process.execPath, [join(here, 'bare-proxy.mjs'), `http://127.0.0.1:${upstreamPort}`]);
  return { port: Number(await printed(entry, /port (\d+)/)), pid: entry.child.pid };
}
