import { describe, expect, it } from 'vitest';
import { aGeneration } from '../../tests/support/generation.js';
import { settlementRow } from '../domain/settlement-row.js';
import { UnsettledCharges } from './unsettled-charges.js';

const rowOf = (id: string, costPico: bigint) => settlementRow(aGeneration({ id, accountId: 'acct', costPico }));

describe('charges that the store does not have yet', () => {
  it('count until they are sent, and again where they did not arrive', () => {
    const charges = new UnsettledCharges();
    charges.add('acct', 'gen-1', 5n);
    charges.add('acct', 'gen-2', 7n);
    const first = charges.sending([rowOf('gen-1', 5n)]);
    expect(charges.sum('acct')).toBe(7n);
    first.refused();
    expect(charges.sum('acct')).toBe(12n);
    charges.sending([rowOf('gen-1', 5n), rowOf('gen-2', 7n)]).arrived();
    expect(charges.sum('acct')).toBe(0n);
    expect(charges.inDoubt('acct')).toBe(false);
  });

  it('are not made of rows that an earlier process left: those were never taken off here', () => {
    const charges = new UnsettledCharges();
    charges.add('acct', 'gen-1', 5n);
    charges.sending([rowOf('gen-left', 90n)]).refused();
    charges.sending([rowOf('gen-left', 90n)]).unanswered();
    expect(charges.sum('acct')).toBe(5n);
    expect(charges.inDoubt('acct')).toBe(false);
  });

  it('are none of a generation that was corrected to 0: nothing is kept of it', () => {
    const charges = new UnsettledCharges();
    charges.add('acct', 'gen-1', 5n);
    charges.add('acct', 'gen-1', 0n);
    charges.add('acct', 'gen-2', 0n);
    // Rows of generations that this process still had a charge of would count as being sent.
    charges.sending([rowOf('gen-1', 5n), rowOf('gen-2', 7n)]);
    expect([charges.sum('acct'), charges.beingSent('acct')]).toEqual([0n, false]);
  });

  it.each(['arrived', 'refused'] as const)(
    'leave the account in doubt where nobody answered, until they have %s',
    (end) => {
      const charges = new UnsettledCharges();
      charges.add('acct', 'gen-1', 5n);
      charges.sending([rowOf('gen-1', 5n)]).unanswered();
      const again = charges.sending([rowOf('gen-1', 5n)]);
      expect([charges.sum('acct'), charges.inDoubt('acct')]).toEqual([0n, true]);
      again[end]();
      expect([charges.sum('acct'), charges.inDoubt('acct')]).toEqual([end === 'refused' ? 5n : 0n, false]);
    },
  );
});
