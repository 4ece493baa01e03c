import { describe, expect, it } from 'vitest';
import { aGeneration } from '../../tests/support/generation.js';
import { settlementRow } from '../storage/settlement-row.js';
import { UnsettledCharges } from './unsettled-charges.js';

const rowOf = (id: string, costPico: bigint) => settlementRow(aGeneration({ id, accountId: 'acct', costPico }));

describe('charges that the store does not have yet', () => {
  it('count until they are sent, and again where they did not arrive', () => {
    const charges = new UnsettledCharges();
    charges.add('acct', 'gen-1', 5n);
    charges.add('acct', 'gen-2', 7n);
    const putBack = charges.sending([rowOf('gen-1', 5n)]);
    expect(charges.sum('acct')).toBe(7n);
    putBack();
    expect(charges.sum('acct')).toBe(12n);
    charges.sending([rowOf('gen-1', 5n), rowOf('gen-2', 7n)]);
    expect(charges.sum('acct')).toBe(0n);
  });

  it('are not made of rows that an earlier process left: those were never taken off here', () => {
    const charges = new UnsettledCharges();
    charges.add('acct', 'gen-1', 5n);
    charges.sending([rowOf('gen-left', 90n)])();
    expect(charges.sum('acct')).toBe(5n);
  });
});
