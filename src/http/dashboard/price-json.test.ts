import { expect, it } from 'vitest';
import { YamlSource } from '../../base/yaml-source.js';
import { priceFields, readPrice } from '../../catalogue/price-fields.js';
import { priceJson } from './price-json.js';

function shown(yaml: string) {
  const source = new YamlSource('prices.yaml', yaml);
  source.check(priceFields);
  const price = readPrice(source, [])!;
  return priceJson(price, Date.parse('2026-11-16T12:00:00Z'), price.provenance);
}

it('a plain price has no others', () => {
  expect(shown('{ input: 4, output: 20 }')).toEqual({
    ...{ input: '4', output: '20', cached_input: null, others: [], as_of: null, old: false, until_changed: false },
  });
});

it.each([
  ['2026-08-19', false],
  ['2026-08-18', true],
  ['2026-08', true],
  ['2026-09', false],
])('a price as of %s is older than 90 days: %s', (asOf, old) => {
  expect(shown(`{ input: 4, output: 20, source: s, as_of: ${asOf} }`)).toMatchObject({ as_of: asOf, old });
});

it('an offer without a known end says so, with the list price that is to follow', () => {
  expect(shown('{ input: 4, output: 20, until: 2026-11-01, until_changed: true, then: { input: 5 } }')).toMatchObject({
    ...{ input: '4', until_changed: true, others: [{ when: { after_offer: true }, prices: { input: '5' } }] },
  });
});

it('every other price is there once, with when it holds', () => {
  const { others } = shown(`
input: 4
output: 20
cached_input: 0.4
cache_write: 5
request: 0.01
tools: { web_search: 0.025 }
above: { input_tokens: 200000, input: 8, output: 30 }
tiers:
  flex: { input: 2, output: 10 }
  priority: { input: 8, above: { from_tokens: 300000, output: 80 } }
periods:
  - { utc: "22:30-06:00", days: [sat, sun], input: 1 }
until: 2026-11-21
then: { input: 6 }
`);
  expect(others).toEqual([
    { when: {}, prices: { cached_input: '0.4', cache_write: '5', request: '0.01', 'tools.web_search': '0.025' } },
    { when: { from_tokens: 200_001 }, prices: { input: '8', output: '30' } },
    { when: { tier: 'flex' }, prices: { input: '2', output: '10' } },
    { when: { tier: 'priority' }, prices: { input: '8' } },
    { when: { tier: 'priority', from_tokens: 300_000 }, prices: { input: '8', output: '80' } },
    { when: { utc: '22:30-06:00', days: [6, 0] }, prices: { input: '1' } },
    { when: { from: '2026-11-22' }, prices: { input: '6' } },
  ]);
});
