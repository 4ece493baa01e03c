import { describe, expect, it } from 'vitest';
import { ConfigFault } from '../config/config-fault.js';
import { loadSanctioned } from './sanctioned.js';

describe('sanctioned territories', () => {
  it('are by default those under comprehensive sanctions, Sevastopol beside Crimea', async () => {
    const { codes, names } = await loadSanctioned('builtin');
    expect([...codes].sort()).toEqual(['CU', 'IR', 'KP', 'UA-09', 'UA-14', 'UA-40', 'UA-43']);
    for (const code of codes) expect(code).toMatch(/^[A-Z]{2}(-[A-Z0-9]{1,3})?$/);
    expect(names.get('UA-43')).toBe('Crimea');
    expect([...names.keys()].sort()).toEqual(['UA-09', 'UA-14', 'UA-40', 'UA-43']);
  });

  it('are the operator\u2019s list where there is one, also an empty one, with the names still known', async () => {
    const { codes, names } = await loadSanctioned(['ru', 'UA-43']);
    expect([...codes]).toEqual(['RU', 'UA-43']);
    expect(names.get('UA-43')).toBe('Crimea');
    expect((await loadSanctioned([])).codes.size).toBe(0);
  });

  it.each(['Cuba', 'CUB', 'C', '', 'UA-', 'UA-4343', 'UA 43', '43'])(
    '%j stops the start and is named',
    async (code) => {
      const loading = loadSanctioned(['CU', code]);
      await expect(loading).rejects.toBeInstanceOf(ConfigFault);
      await expect(loading).rejects.toThrow(`found ${JSON.stringify(code.toUpperCase())}`);
    },
  );
});
