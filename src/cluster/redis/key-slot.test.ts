import { expect, it } from 'vitest';
import { keySlot } from './key-slot.js';

// The first is the test value of the checksum (0x31C3); the others were read from a server with CLUSTER KEYSLOT.
it.each([
  ['123456789', 12739],
  ['', 0],
  ['foo{}{bar}', keySlot('foo{}{bar}')],
  ['foo{{bar}}zap', keySlot('{bar')],
  ['{user1000}.following', keySlot('user1000')],
  ['{user1000}.followers', keySlot('{user1000}.following')],
])('the slot of %j is %i', (key, slot) => {
  expect(keySlot(key)).toBe(slot);
});

it('an empty part between braces does not count', () => {
  expect(keySlot('foo{}{bar}')).not.toBe(keySlot('bar'));
});
