import { describe, expect, it } from 'vitest';
import { mergeDataPolicy } from './data-policy.js';

const provider = { trains: false, retention_days: 30, source: 'https://p.example', as_of: '2026-11-15' };

describe('the data policy of a route', () => {
  it('is what its provider publishes, and null where nothing is known', () => {
    expect(mergeDataPolicy({ provider, route: undefined, agreement: undefined })).toEqual({
      ...provider,
      basis: 'published',
    });
    expect(mergeDataPolicy({ provider: undefined, route: undefined, agreement: undefined })).toBeNull();
    expect(
      mergeDataPolicy({ provider: { source: 'x', trains: null }, route: undefined, agreement: undefined }),
    ).toBeNull();
  });

  it('has the fields of the route first, where null means not known', () => {
    const merged = mergeDataPolicy({ provider, route: { trains: null, zdr: 'no' }, agreement: {} });
    expect(merged).toEqual({
      retention_days: 30,
      zdr: 'no',
      source: provider.source,
      as_of: provider.as_of,
      basis: 'published',
    });
    expect(mergeDataPolicy({ provider, route: null, agreement: undefined })).toBeNull();
  });

  it('has the fields of an agreement before all, one by one', () => {
    const merged = mergeDataPolicy({
      provider,
      route: { trains: true },
      agreement: { retention_days: 0, trains: null },
    });
    expect(merged).toEqual({ ...provider, trains: true, retention_days: 0, basis: 'agreement' });
    expect(mergeDataPolicy({ provider: undefined, route: null, agreement: { eu_owned: false } })).toEqual({
      eu_owned: false,
      basis: 'agreement',
    });
  });
});
