import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { builtinVersion } from '../catalogue/builtin.js';
import { versionDayMs } from '../catalogue/update.js';
import { main } from './cli.js';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'lodestone-strict-'));
});
afterEach(() => rmSync(cwd, { recursive: true }));

const stated = { source: 'a list', as_of: '2026-08-21' };
const full = {
  providers: [
    {
      id: 'acme',
      base_url: 'https://a.example/v1',
      headquarters: 'DE',
      data_policy: { trains: false, ...stated },
      ...stated,
    },
    { id: 'plain', base_url: 'https://p.example/v1' },
    { id: 'play', dialect: 'sandbox', auth: 'none', cloud_act: false },
  ],
  regions: [{ locode: 'defra', country: 'DE', carbon: 300, ...stated }],
  models: [
    {
      ...{ creator: 'meta', model: 'llama', context_window: 1000, ...stated },
      routes: [
        { provider: 'acme', locode: 'defra', max_output_tokens: 100, price: { input: 1, output: 2, ...stated } },
        { provider: 'plain', locode: 'global' },
      ],
    },
    {
      ...{ creator: 'lodestone', model: 'play', context_window: 1000 },
      routes: [{ provider: 'play', locode: 'global', price: { input: 0, output: 0 } }],
    },
  ],
};

async function check(catalogue: object, ...args: string[]) {
  writeFileSync(join(cwd, 'catalogue.yaml'), JSON.stringify(catalogue, null, 1));
  writeFileSync(join(cwd, 'lodestone.yaml'), 'catalogue: [catalogue.yaml]\n');
  const out: string[] = [];
  const err: string[] = [];
  const io = { out: (line: string) => void out.push(line), err: (line: string) => void err.push(line) };
  const code = await main(['catalogue', 'check', ...args], { ...io, env: {}, cwd });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

/** The catalogue with one entry changed. */
function changed(change: (copy: typeof full) => void): object {
  const copy = structuredClone(full);
  change(copy);
  return copy;
}

describe('lodestone catalogue check --strict', () => {
  it('passes where every figure has a source and a date, and asks nothing of the sandbox', async () => {
    const { code, out, err } = await check(full, '--strict');
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('Every figure has a source and a date.');
  });

  // biome-ignore lint/suspicious/noExplicitAny: each case takes away what the type of the whole has.
  it.each<[string, (copy: any) => void, RegExp]>([
    [
      'a price',
      ({ models }) => delete models[0].routes[0].price.source,
      /routes\[0\]\.price\.source: .*the price of acme\/meta\/llama\/defra/,
    ],
    [
      'the date of a price',
      ({ models }) => delete models[0].routes[0].price.as_of,
      /price\.as_of: .*the price of acme\/meta\/llama\/defra/,
    ],
    ['carbon', ({ regions }) => delete regions[0].source, /regions\[0\]\.source: .*carbon of defra/],
    ['a jurisdiction', ({ providers }) => delete providers[0].source, /providers\[0\]\.source: .*headquarters of acme/],
    [
      'a data policy',
      ({ providers }) => delete providers[0].data_policy.as_of,
      /data_policy\.as_of: .*the data policy of acme/,
    ],
    ['a limit', ({ models }) => delete models[0].as_of, /models\[0\]\.as_of: .*context_window of meta\/llama/],
    [
      'carbon of a route',
      ({ models }) => (models[0].routes[0].carbon = 1),
      /routes\[0\]\.source: .*carbon of acme\/meta\/llama\/defra/,
    ],
    [
      'a date that is none',
      ({ regions }) => (regions[0].as_of = 'last summer'),
      /found "last summer", expected a date/,
    ],
    ['a day that does not exist', ({ regions }) => (regions[0].as_of = '2026-02-31'), /found "2026-02-31"/],
  ])('refuses %s without one, and names it with file and line', async (_, change, message) => {
    const catalogue = changed(change);
    expect((await check(catalogue)).code).toBe(0);
    const { code, out, err } = await check(catalogue, '--strict');
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/catalogue\.yaml:\d+:\d+: /);
    expect(err).toMatch(message);
  });

  it("takes a route's own source for its price and its carbon", async () => {
    const catalogue = changed(({ models }) => {
      const route = models[0]!.routes[0] as Record<string, unknown>;
      Object.assign(route, { carbon: 1, price: { input: 1, output: 2 }, ...stated });
    });
    expect((await check(catalogue, '--strict')).code).toBe(0);
  });

  it('lists what is older than the given age, and does not fail for it', async () => {
    const catalogue = changed(({ regions, models }) => {
      regions[0]!.as_of = '2020';
      Object.assign(models[0]!, { as_of: new Date().toISOString().slice(0, 10) });
    });
    const { code, out } = await check(catalogue, '--strict', '--max-age', '9000d');
    expect([code, out]).toEqual([
      0,
      expect.stringContaining('Every figure has a source and a date. No figure is older than 9000d.'),
    ]);
    const old = await check(catalogue, '--strict', '--max-age', '300d');
    expect(old.code).toBe(0);
    expect(old.out).toMatch(/catalogue\.yaml:\d+: carbon of defra: as of 2020, \d+ days ago/);
    expect(old.out).not.toContain('context_window of meta/llama');
    const listed = JSON.parse((await check(catalogue, '--strict', '--max-age', '300d', '--json')).out);
    expect([listed.ok, listed.old[0]]).toMatchObject([true, { what: 'carbon of defra', as_of: '2020' }]);
  });

  it.each([
    ['--max-age', '120'],
    ['--strict', '--max-age', 'soon'],
    ['--strict', '--max-age', '0d'],
  ])('refuses %s %s as a command line', async (...args) => expect((await check(full, ...args)).code).toBe(2));

  it('counts what is older than 90 days without being asked', async () => {
    const dated = (days: number) =>
      changed(({ regions, models, providers }) => {
        const today = new Date().toISOString().slice(0, 10);
        const stale = new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
        Object.assign(regions[0]!, { as_of: stale });
        Object.assign(models[0]!, { as_of: today });
        Object.assign(models[0]!.routes[0]!.price!, { as_of: today });
        Object.assign(providers[0]!, { as_of: today, data_policy: { trains: false, source: 'a list', as_of: today } });
      });
    expect((await check(dated(92))).out).toContain('1 figure is older than 90d; --strict lists them.');
    expect((await check(dated(89))).out).not.toContain('older than');
    expect((await check(dated(92), '--strict')).out).toMatch(
      /catalogue\.yaml:\d+: carbon of defra: as of .*, 92 days ago/,
    );
    expect((await check(dated(89), '--max-age', '80d')).out).toContain('1 figure is older than 80d');
  });

  it('notes routes of an own file that are retired or retire within 60 days, and offers past their promised day', async () => {
    const dayIn = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    const noted = async (days: number, ...args: string[]) => {
      const catalogue = changed(({ models }) => {
        Object.assign(models[0]!, { retires: { date: dayIn(days), source: 'x', replaced_by: 'lodestone/play' } });
      });
      const { code, out } = await check(catalogue, ...args);
      expect(code).toBe(0);
      return out.split('\n').filter((line) => line.includes('acme/meta/llama/defra'));
    };
    const gone = `acme/meta/llama/defra is retired since ${dayIn(-1)}, and is not served; lodestone/play replaces it`;
    expect(await noted(-1)).toEqual([expect.stringMatching(new RegExp(`catalogue\\.yaml:\\d+: ${gone}$`))]);
    expect(await noted(-1, '--strict', '--max-age', '9000d')).toHaveLength(1);
    const line = `acme/meta/llama/defra retires on ${dayIn(59)}; lodestone/play replaces it`;
    expect(await noted(59)).toEqual([expect.stringContaining(line)]);
    expect(await noted(62)).toEqual([]);
    const offered = async (until: string) => {
      const catalogue = changed(({ models }) => {
        Object.assign(models[0]!.routes[0]!.price!, { until, until_changed: true });
      });
      return JSON.parse((await check(catalogue, '--json')).out).notes;
    };
    const what = expect.stringContaining(`an offer that was promised until ${dayIn(-1)}`);
    expect(await offered(dayIn(-1))).toEqual([{ at: expect.stringMatching(/catalogue\.yaml:\d+$/), what }]);
    expect(await offered(dayIn(0))).toEqual([]);
  });

  it('passes for every figure of the built-in catalogue', async () => {
    // As of its own date: a catalogue that was right is wrong when the first of its routes has retired.
    vi.useFakeTimers({ toFake: ['Date'], now: versionDayMs(builtinVersion)! });
    try {
      const { code, err } = await check({}, 'builtin', '--strict');
      expect([code, err]).toEqual([0, '']);
    } finally {
      vi.useRealTimers();
    }
  });
});
