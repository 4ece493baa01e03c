/**
 * Measures the dashboard in a browser on a store with many records: a million generations of 120 accounts, 200 keys with long names, 1,000
 * projects, 5,000 members, 100 models. It fills an embedded store in a folder of its own, loads every page ten times, and prints the median of
 * the time until the page shows its data. After `npm run build`:
 *
 *   node bench/dashboard.mjs --dir /tmp/dashboard-bench --keep
 *   node bench/dashboard.mjs --dir /tmp/dashboard-bench --keep --loads 0 --pictures /tmp/pictures
 *   node bench/dashboard.mjs --rows 0 --loads 0 --pictures /tmp/pictures
 *
 * With `--rows 0` there is one operator, who has nothing yet. `--keep` leaves the store there, and a store that is there is used as it is.
 * `--pictures` takes every page at five widths, light and dark, and lists what axe-core finds, ids over two lines, texts that are cut off, and
 * pages that scroll sideways. `--as user` takes the rights of
 * an operator away meanwhile, and `--themes dark` chooses one. `--axe-widths 390` runs axe-core only at those,
 * because it takes most of the time. `--only /,/usage` chooses pages. The browser is `CHROME_PATH` or the `chromium` of the system.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { startEmbedded } from '../dist/storage/embedded/embedded.js';
import { openStore } from '../dist/storage/open-store.js';
import { fillDashboard } from './dashboard-fill.mjs';
import { furnish, password, startBoard } from './dashboard-gateway.mjs';
import { loadTime, openWindow, takePictures } from './dashboard-pages.mjs';
import { median } from './statistics.mjs';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    dir: { type: 'string', default: '/tmp/dashboard-bench' },
    keep: { type: 'boolean', default: false },
    loads: { type: 'string', default: '10' },
    only: { type: 'string' },
    widths: { type: 'string', default: '390,1024,1280,1440,1920' },
    themes: { type: 'string', default: 'light,dark' },
    pictures: { type: 'string' },
    'axe-widths': { type: 'string', default: '390,1024,1280,1440,1920' },
    as: { type: 'string', default: 'operator' },
  },
});
const days = 90;
const now = Date.now();
const mustMs = 500;
const logger = { debug() {}, info() {}, warn() {}, error() {} };
const operatorPages = ['service', 'accounts', 'route-health', 'availability', 'audit'];
const stateFile = join(values.dir, 'state.json');

mkdirSync(values.dir, { recursive: true });
try {
  if (!existsSync(stateFile)) await fill();
  await measure(JSON.parse(readFileSync(stateFile, 'utf8')));
} finally {
  if (!values.keep) rmSync(values.dir, { recursive: true, force: true });
}

async function fill() {
  const board = await startBoard(values.dir);
  const rows = Number(values.rows);
  const state = await furnish(board, rows === 0).finally(() => board.stop());
  if (rows > 0) await fillRows(rows, state);
  writeFileSync(stateFile, JSON.stringify(state));
}

async function fillRows(rows, state) {
  const embedded = await startEmbedded({ dataDir: join(values.dir, 'data'), logger, connectionsMax: 20 });
  const store = await openStore({ connection: embedded.connection, logger });
  try {
    await fillDashboard({ connection: embedded.connection, store, rows, days, now, log: console.log, ...state });
  } finally {
    await store.close();
    await embedded.stop();
  }
}

async function measure({ accounts, email, routes }) {
  const board = await startBoard(values.dir);
  const browser = await chromium.launch({
    executablePath: process.env.CHROME_PATH ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    await board.admin('PATCH', `/accounts/${accounts[0]}`, { operator: values.as === 'operator' });
    const session = await board.signIn(email, password);
    const pages = (await pagesOf(board, session, accounts, routes)).filter(
      (path) => values.as === 'operator' || !operatorPages.includes(path.split(/[?/]/)[1]),
    );
    const chosen = pages.filter((path) => !values.only || values.only.split(',').includes(path.split('?')[0]));
    if (Number(values.loads) > 0) await measureLoads({ board, browser, session, pages: chosen });
    if (values.pictures) {
      const widths = values.widths.split(',').map(Number);
      const themes = values.themes.split(',');
      const checked = values['axe-widths'].split(',').map(Number);
      await takePictures({ board, browser, session, pages: chosen, widths, themes, checked, folder: values.pictures });
    }
  } finally {
    await browser.close();
    await board.stop();
  }
}

async function measureLoads({ board, browser, session, pages }) {
  let slow = 0;
  const { page } = await openWindow({ board, browser, session, width: 1440, theme: 'light' });
  for (const path of pages) {
    const times = [];
    // The first load fills the caches of the browser and of PostgreSQL.
    for (let load = 0; load <= Number(values.loads); load++) {
      const time = await loadTime(page, `${board.url}/dashboard${path}`);
      if (load > 0) times.push(time);
    }
    const middle = median(times);
    if (middle > mustMs) slow++;
    const most = Math.max(...times).toFixed(0);
    console.log(
      `${middle.toFixed(0).padStart(6)} ms  (most ${most.padStart(5)})  ${path}${middle > mustMs ? '  SLOW' : ''}`,
    );
  }
  console.log(
    slow === 0 ? `Every page shows its data within ${mustMs} ms.` : `${slow} pages take longer than ${mustMs} ms.`,
  );
  if (slow > 0) process.exitCode = 1;
}

/** Every kind of page, with what has the most to show. */
async function pagesOf(board, session, accounts, routes) {
  const { data } = await board.dashboard('GET', 'usage/requests?limit=1', undefined, session);
  const { data: projects } = await board.dashboard('GET', 'projects?limit=2', undefined, session);
  const models = routes.slice(0, 200).map(({ id }) => id.split('/').slice(1, 3).join('/'));
  const compared = [...new Set(models)].slice(0, 4);
  return [
    ...[
      '/',
      '/?range=90d',
      '/usage',
      '/usage?range=90d&group=key',
      ...data.map(({ id }) => `/usage/${id}`),
      '/credits',
      '/keys',
      '/models',
    ],
    ...[`/models/${compared[0]}`, `/models/compare?ids=${encodeURIComponent(compared.join(','))}`, '/playground'],
    ...[
      '/credentials',
      '/imports',
      '/aliases',
      '/fallback',
      '/routing-policy',
      '/account',
      '/service',
      '/service?range=90d',
      '/accounts',
    ],
    ...[`/accounts/${accounts[0]}`, '/route-health', '/availability', '/audit'],
    ...[
      '/projects',
      `/projects/${projects.at(-1).id}`,
      '/members',
      '/settings',
      '/notices',
      '/audit-log',
      '/usage?group=project',
    ],
  ];
}
