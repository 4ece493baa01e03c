import { describe, expect, it } from 'vitest';
import { installIsStale } from '../../scripts/prepare.mjs';

const lock = (packages: Record<string, object>) => JSON.stringify({ packages });
const wanted = lock({
  '': { name: 'lodestone' },
  'node_modules/pg': { version: '8.0.0' },
  'node_modules/other-platform': { version: '1.0.0', optional: true },
  'node_modules/dashboard': { link: true, resolved: 'dashboard' },
  dashboard: { version: '0.1.0' },
});

describe('what npm start and npm test install', () => {
  it('nothing, where every package of the lock file is there in its version', () => {
    expect(installIsStale(wanted, lock({ 'node_modules/pg': { version: '8.0.0' } }))).toBe(false);
    expect(installIsStale()).toBe(false);
  });

  it('everything, where a package is missing, has another version, or an install did not end', () => {
    expect(installIsStale(wanted, lock({}))).toBe(true);
    expect(installIsStale(wanted, lock({ 'node_modules/pg': { version: '7.9.9' } }))).toBe(true);
    expect(installIsStale(wanted, '')).toBe(true);
  });

  it('everything, where an optional package is there in another version', () => {
    const installed = { 'node_modules/pg': { version: '8.0.0' }, 'node_modules/other-platform': { version: '0.9.0' } };
    expect(installIsStale(wanted, lock(installed))).toBe(true);
  });
});
