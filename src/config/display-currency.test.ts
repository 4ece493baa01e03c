import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { ConfigFault } from './config-fault.js';
import { loadConfig } from './load-config.js';

const cwd = mkdtempSync(join(tmpdir(), 'lodestone-currency-'));
afterAll(() => rmSync(cwd, { recursive: true }));

function load(fields: string) {
  writeFileSync(join(cwd, 'lodestone.yaml'), `billing:\n  display_currency: { ${fields} }\n`);
  return loadConfig({ env: {}, cwd });
}

function faultsOf(fields: string): string {
  try {
    load(fields);
    return '';
  } catch (error) {
    return (error as ConfigFault).faults.join('\n');
  }
}

describe('billing.display_currency', () => {
  it('is kept as it is written', () => {
    expect(load('code: EUR, rate: 1.17, source: s, as_of: 2026-11-18').billing.displayCurrency).toEqual({
      ...{ code: 'EUR', rate: '1.17', source: 's', as_of: '2026-11-18' },
    });
  });

  it.each(['0', '0.0', '-1.17', 'much', '""', '0.0000001', '[1]', 'null'])('refuses a rate of %s', (rate) => {
    expect(faultsOf(`code: EUR, rate: ${rate}, source: s, as_of: 2026-11-18`)).toMatch(
      /^lodestone\.yaml:2:\d+: billing\.display_currency\.rate: found .*, expected the USD that one unit costs/,
    );
  });

  it.each([
    ['code: EUR, source: s, as_of: 2026-11-18', 'rate: found nothing, expected the USD that one unit costs'],
    ['code: EUR, rate: 1.17, source: s, as_of: 2026-02-30', 'as_of: found "2026-02-30", expected a date'],
    ['code: EUR, rate: 1.17, as_of: 2026-11-18', 'source: found nothing, expected a text'],
    ['code: USD, rate: 1, source: s, as_of: 2026-11-18', 'code: found "USD", expected an ISO 4217 code such as EUR'],
  ])('refuses { %s }', (fields, expected) => expect(faultsOf(fields)).toContain(expected));
});
