/**
 * The rows of `npm run bench`. To add one, put `{name, what, unit, must, aim, measure}` before the last: `measure` takes the rig (bench/rig.mjs) and
 * resolves to one value a round, of which the median is the figure; it throws LeftOut where this machine lacks something. `must` and
 * `aim` are the most that the figure may be, or the least where `atLeast` is set. Rows that ask for the same comparison share it.
 */
import { doors } from './doors.mjs';
import { measureGarbage } from './garbage.mjs';
import { measurePauses } from './loop-pause.mjs';
import { memoryOf } from './memory.mjs';
import { measureSettling } from './settling.mjs';
import { measureStarts } from './startup.mjs';
import { pairByRound } from './statistics.mjs';
import { measureWorkerGain } from './worker-gain.mjs';

const beside = ['bare', 'nginx', 'lodestone'];
/** Of chats and of the other client APIs, native and translated. */
const throughDoors = ['lodestone', ...Object.keys(doors).flatMap((door) => [door, `${door}-translated`])];

/** Above direct, as a multiple of what nginx adds in the same round. */
async function addedBesideNginx(rig, field) {
  const comparison = await rig.compare('single', ['direct', 'nginx', 'lodestone']);
  const added = (name) =>
    pairByRound(comparison.of(name), comparison.of('direct'), (a, b) => a.load[field] - b.load[field]).map(
      (value, round) => ({ round, value }),
    );
  return pairByRound(added('lodestone'), added('nginx'), (a, b) => a.value / Math.max(1, b.value));
}

/** Two rows come from one series of starts. */
function startsOf(rig) {
  rig.starts ??= measureStarts(rig, rig.rounds);
  return rig.starts;
}

export const rows = [
  {
    name: 'serving-bare',
    what: 'JSON request, CPU of the serving process alone × bare `node:http` + undici',
    unit: '×',
    must: 1.0,
    aim: 0.7,
    measure: async (rig) => (await rig.compare('json', beside)).servingCpuRatio('lodestone', 'bare'),
  },
  {
    name: 'json-bare',
    what: 'JSON request, CPU until the gateway rests × bare `node:http` + undici',
    unit: '×',
    must: 1.5,
    aim: 1.0,
    measure: async (rig) => (await rig.compare('json', beside)).cpuRatio('lodestone', 'bare'),
  },
  {
    name: 'json-nginx',
    what: 'JSON request, CPU until the gateway rests × nginx',
    unit: '×',
    must: 5,
    aim: 3.5,
    measure: async (rig) => (await rig.compare('json', beside)).cpuRatio('lodestone', 'nginx'),
  },
  {
    name: 'saturation-p99',
    what: 'p99 at saturation (32 connections) × bare',
    unit: '×',
    must: 1.5,
    aim: 1.0,
    measure: async (rig) => (await rig.compare('json', beside)).latencyRatio('lodestone', 'bare', 'p99Us'),
  },
  {
    name: 'chunk-nginx',
    what: 'paced chunk (50 streams), CPU × nginx',
    unit: '×',
    must: 1.8,
    aim: 1.4,
    measure: async (rig) => (await rig.compare('paced', ['nginx', 'lodestone'])).cpuRatio('lodestone', 'nginx'),
  },
  {
    name: 'prompt-nginx',
    what: 'prompt of 33 KB, CPU × nginx',
    unit: '×',
    must: 3.5,
    aim: 2.5,
    measure: async (rig) => (await rig.compare('prompt', ['nginx', 'lodestone'])).cpuRatio('lodestone', 'nginx'),
  },
  {
    name: 'steady-p99',
    what: 'p99 at a steady 300 requests/s (gateway and PostgreSQL on one core) × bare',
    unit: '×',
    must: 1.0,
    aim: 0.8,
    measure: async (rig) => (await rig.compare('steady', beside)).latencyRatio('lodestone', 'bare', 'p99Us'),
  },
  {
    name: 'steady-cpu',
    what: 'CPU a request at a steady 300 requests/s × nginx',
    unit: '×',
    must: 4,
    aim: 3,
    measure: async (rig) => (await rig.compare('steady', beside)).cpuRatio('lodestone', 'nginx'),
  },
  {
    name: 'single-p50',
    what: 'one connection, p50 above direct × nginx’s',
    unit: '×',
    must: 2.5,
    aim: 1.7,
    measure: (rig) => addedBesideNginx(rig, 'p50Us'),
  },
  {
    name: 'single-p99',
    what: 'one connection, p99 above direct × nginx’s',
    unit: '×',
    must: 6,
    aim: 3,
    measure: (rig) => addedBesideNginx(rig, 'p99Us'),
  },
  {
    name: 'settling',
    what: 'settling a record of a backlog, CPU of the settler and PostgreSQL',
    unit: 'µs',
    must: 30,
    aim: 20,
    measure: (rig) => measureSettling(rig),
  },
  {
    name: 'garbage',
    what: 'garbage of a JSON request in the serving process',
    unit: 'KB',
    must: 18,
    aim: 10,
    measure: (rig) => measureGarbage(rig),
  },
  {
    name: 'loop-pause',
    what: 'longest pause of the event loop under the steady load',
    unit: 'ms',
    must: 3,
    aim: 2,
    measure: (rig) => measurePauses(rig, rig.rounds),
  },
  {
    name: 'streams-gap',
    what: 'gap p99 of 2,000 paced streams at 20 chunks/s, above direct',
    unit: 'ms',
    must: 30,
    aim: 15,
    measure: async (rig) => {
      const comparison = await rig.compare('streams', ['direct', 'lodestone'], { rounds: Math.min(rig.rounds, 2) });
      return comparison.added('lodestone', 'gapP99Us').map((us) => us / 1000);
    },
  },
  ...Object.keys(doors).flatMap((door) => [
    {
      name: `${door}-native`,
      what: `JSON request through \`${doors[door].path}\` to a provider that speaks it, CPU × chat completions`,
      unit: '×',
      must: 1.05,
      aim: 1.0,
      measure: async (rig) => (await rig.compare('json', throughDoors)).cpuRatio(door, 'lodestone'),
    },
    {
      name: `${door}-chunk`,
      what: `paced chunk translated for \`${doors[door].path}\`, CPU × a chunk that is passed on`,
      unit: '×',
      must: 2,
      aim: 1.3,
      measure: async (rig) =>
        (await rig.compare('paced', throughDoors)).streamCpuRatio(`${door}-translated`, 'lodestone'),
    },
  ]),
  {
    name: 'fleet',
    what: 'one process of a fleet, CPU × a single process',
    unit: '×',
    must: 1.3,
    aim: 1.15,
    measure: async (rig) => (await rig.compare('json', ['lodestone', 'fleet'])).cpuRatio('fleet', 'lodestone'),
  },
  {
    name: 'holds-bounded',
    what: 'an account with a bounded overdraft, CPU × an open one',
    unit: '×',
    must: 1.03,
    measure: async (rig) => (await rig.compare('json', ['lodestone', 'bounded'])).cpuRatio('bounded', 'lodestone'),
  },
  {
    name: 'holds-capped',
    what: 'a key with a cap, CPU × one without',
    unit: '×',
    must: 1.03,
    measure: async (rig) => (await rig.compare('json', ['lodestone', 'capped'])).cpuRatio('capped', 'lodestone'),
  },
  {
    name: 'holds-budgets',
    what: 'budgets of account and project and a cap of the key, CPU × none',
    unit: '×',
    must: 1.03,
    measure: async (rig) => (await rig.compare('json', ['lodestone', 'budgeted'])).cpuRatio('budgeted', 'lodestone'),
  },
  {
    name: 'model-name',
    what: 'a request by a name of the operator, CPU × by its pin',
    unit: '×',
    must: 1.02,
    measure: async (rig) => (await rig.compare('json', ['lodestone', 'named'])).cpuRatio('named', 'lodestone'),
  },
  {
    name: 'foreign-token',
    what: 'a key with a token of another system, CPU × one of the gateway',
    unit: '×',
    must: 1.02,
    measure: async (rig) => (await rig.compare('json', ['lodestone', 'foreign'])).cpuRatio('foreign', 'lodestone'),
  },
  {
    name: 'classes',
    what: 'a route with a price for every class, CPU × one with three',
    unit: '×',
    must: 1.03,
    measure: async (rig) => (await rig.compare('json', ['lodestone', 'classes'])).cpuRatio('classes', 'lodestone'),
  },
  {
    name: 'proof',
    what: 'with the log of receipts, CPU × without',
    unit: '×',
    must: 1.2,
    aim: 1.1,
    measure: async (rig) =>
      (await rig.compare('json', ['lodestone', 'without-proof'])).cpuRatio('lodestone', 'without-proof'),
  },
  {
    name: 'auto',
    what: '`auto/` among ten candidates, CPU × the pinned route',
    unit: '×',
    must: 1.05,
    measure: async (rig) => (await rig.compare('json', ['lodestone', 'auto'])).cpuRatio('auto', 'lodestone'),
  },
  {
    name: 'conversation',
    what: '`auto/` in a conversation with a name, CPU × without one',
    unit: '×',
    must: 1.05,
    measure: async (rig) => (await rig.compare('json', ['auto', 'conversation'])).cpuRatio('conversation', 'auto'),
  },
  {
    name: 'pin-policy',
    what: 'the pinned route where conversations are remembered, CPU × where none is',
    unit: '×',
    must: 1.02,
    measure: async (rig) => (await rig.compare('json', ['forgetful', 'lodestone'])).cpuRatio('lodestone', 'forgetful'),
  },
  {
    name: 'memory-idle',
    what: 'memory (PSS) with its PostgreSQL, idle',
    unit: 'MB',
    must: 170,
    aim: 130,
    measure: async (rig) => (await memoryOf(rig)).map(({ idleMb }) => idleMb),
  },
  {
    name: 'memory-load',
    what: 'memory (PSS) with its PostgreSQL, under load',
    unit: 'MB',
    must: 250,
    aim: 190,
    measure: async (rig) => (await memoryOf(rig)).map(({ loadedMb }) => loadedMb),
  },
  {
    name: 'ready',
    what: 'ready after `npm start` on a built checkout',
    unit: 's',
    must: 0.8,
    measure: async (rig) => (await startsOf(rig)).map(({ readySeconds }) => readySeconds),
  },
  {
    name: 'first-request',
    what: 'first request after ready, above direct',
    unit: 'ms',
    must: 15,
    aim: 5,
    measure: async (rig) => (await startsOf(rig)).map(({ firstMs }) => firstMs),
  },
  // Last, because it ends all other gateways.
  {
    name: 'workers',
    what: 'two workers × one, requests a second at 64 connections',
    unit: '×',
    atLeast: true,
    must: 1.8,
    measure: (rig) => measureWorkerGain(rig, rig.rounds),
  },
];
