import { expect, it } from 'vitest';
import { type ShownRoute, statusPage } from './status-page.js';

const none = { '24h': null, '7d': null, '90d': null };
const nowMs = Date.parse('2026-11-19T12:00:00Z');
const open = { kind: 'breaker' as const, from: '2026-11-19T11:00:00.000Z', to: null };

function aRoute(fields: Partial<ShownRoute> = {}): ShownRoute {
  const route = { provider: 'acme', locode: 'defra', model: 'meta/llama', windows: none, incidents: [] };
  return { ...route, isSandbox: false, days: null, ...fields };
}

const page = (...routes: ShownRoute[]) => statusPage(null, routes, new Map(), nowMs);

it('the sandbox fails on purpose, so that what it does is no incident', () => {
  const calm = page(aRoute({ isSandbox: true, incidents: [open] }));
  expect(calm).toContain('No incident at the moment');
  expect(calm).not.toContain('Not tried after failures');
  expect(page(aRoute({ incidents: [open] }))).toContain('1 route has an incident at the moment');
});

it('has a bar for each day, and says in words what they show', () => {
  const days = Array.from({ length: 90 }, () => 1 as number | null);
  days[0] = null;
  days[88] = 0.97;
  days[89] = 0.5;
  const html = page(aRoute({ days }));
  const bars = (grade: string) => new RegExp(`class="${grade}" d="([^"]*)"`).exec(html)?.[1]?.match(/M/g)?.length ?? 0;
  expect(['none', 'good', 'fair', 'bad'].map(bars)).toEqual([1, 87, 1, 1]);
  expect(html).toContain('Lowest: 50 % on 2026-11-19');
  expect(html).toContain('89 of 90 days with figures; 87 at 99 % or more, 1 at 95 % or more, 1 below.');
  expect(html).not.toMatch(/style=/);
});

it('draws no bars for a route without figures', () => {
  expect(page(aRoute({ days: Array.from({ length: 90 }, () => null), incidents: [open] }))).not.toContain('<figure');
});

it('a provider’s routes without a figure and without an incident share one box, with their names; the others have one each', () => {
  const figures = {
    availability: 1,
    error_rate: 0,
    first_byte_ms: { p50: 90, p95: 200 },
    tokens_per_second: { p50: 40 },
  };
  const busy = aRoute({ model: 'meta/busy', windows: { ...none, '90d': figures } });
  const html = page(
    aRoute(),
    aRoute({ model: '<i>', locode: 'frpar' }),
    busy,
    aRoute({ model: 'x/y', incidents: [open] }),
  );
  expect(html.match(/class="route"/g)).toHaveLength(3);
  expect(html.match(/<table/g)).toHaveLength(2);
  expect(html).toContain(
    '<li>meta/llama <span class="quiet">defra</span></li><li>&#60;i&#62; <span class="quiet">frpar',
  );
  expect(html.match(/Too little traffic for a figure in 90 days, and no incident:/g)).toHaveLength(1);
});
