import { describe, expect, it } from 'vitest';
import { forSeeds } from '../../../../tests/support/seeded-random.js';
import { decodedName, encodedName, toolUseId } from './names.js';

describe('names of tools', () => {
  it('are read back as they were, whatever they are made of, in either encoding', () => {
    const pieces = ['a', 'Z', '9', '_', '-', '_x', '_x5', '_x41', 'x41', '.', '/', ':', ' ', 'é', '字', '😀', '__x5f'];
    forSeeds(500, (random) => {
      const name = random.textOf(pieces, 8);
      const bytes = Buffer.from(name).toString('latin1');
      const written = encodedName(name, 'utf8');
      expect(written).toMatch(/^[a-zA-Z0-9_-]*$/);
      expect(encodedName(bytes, 'latin1')).toBe(written);
      expect([decodedName(written, 'utf8'), decodedName(written, 'latin1')]).toEqual([name, bytes]);
    });
  });

  it.each(['get_weather', 'a-b_c', '_x', '_xyz', 'mcp__server__tool'])('%s stays as it is', (name) => {
    expect(encodedName(name, 'latin1')).toBe(name);
  });
});

describe('ids of tool calls', () => {
  it('stay as they are where they may, and else stay apart', () => {
    expect(toolUseId('tooluse_Ab-1.2:3')).toBe('tooluse_Ab-1.2:3');
    const odd = ['a b', 'a_b', 'a/b', '', `${'y'.repeat(70)}1`, `${'y'.repeat(70)}2`].map(toolUseId);
    expect(new Set(odd).size).toBe(odd.length);
    for (const id of odd) expect(id).toMatch(/^[a-zA-Z0-9_.:-]{1,64}$/);
  });
});
