import { describe, expect, it } from 'vitest';
import { smallSnapshot } from '../../../tests/support/snapshot.js';
import { isAliasName } from './alias-name.js';
import { checkAliasTarget, parseAliasTarget, targetModelId } from './alias-target.js';

const defra = { provider: 'acme', canonicalId: 'meta/llama', locode: 'defra' };
const fields = { provider: 'acme', canonical_id: 'meta/llama', locode: 'defra' };
const refused = expect.objectContaining({ condition: 'invalid_alias_target', param: 'target' });

describe('the shapes of an alias target', () => {
  it('takes flat fields, a nested object and the two strings', () => {
    expect(parseAliasTarget({ name: 'x', ...fields })).toEqual(defra);
    expect(parseAliasTarget({ target: fields })).toEqual(defra);
    expect(parseAliasTarget({ target: 'acme/meta/llama/defra' })).toEqual(defra);
    expect(parseAliasTarget({ target: 'auto/meta/llama' })).toEqual({
      provider: 'auto',
      canonicalId: 'meta/llama',
      locode: null,
    });
  });

  it('takes a missing, null or empty locode as global, and none for auto', () => {
    for (const locode of [undefined, null, '']) {
      expect(parseAliasTarget({ ...fields, locode })).toMatchObject({ locode: 'global' });
      expect(parseAliasTarget({ target: { ...fields, provider: 'auto', locode } })).toMatchObject({ locode: null });
    }
    expect(parseAliasTarget({ ...fields, locode: 'DEFRA' })).toEqual(defra);
  });

  it.each([
    ['flat and nested together', { ...fields, target: fields }],
    ['flat and a string together', { provider: 'acme', target: 'auto/meta/llama' }],
    ['nothing', { name: 'x' }],
    ['an empty object', { target: {} }],
    ['no canonical_id: absent is empty, not unchanged', { provider: 'acme', locode: 'defra' }],
    ['no provider', { canonical_id: 'meta/llama', locode: 'defra' }],
    ['only a locode', { target: { locode: 'defra' } }],
    ['a string without a locode', { target: 'acme/meta/llama' }],
    ['a string of five segments', { target: 'acme/meta/llama/defra/x' }],
    ['a string of one segment', { target: 'llama' }],
    ['a string with an empty segment', { target: 'acme//llama/defra' }],
    ['auto with a locode in a string', { target: 'auto/meta/llama/defra' }],
    ['auto with a locode in fields', { ...fields, provider: 'auto' }],
    ['a list', { target: ['acme/meta/llama/defra'] }],
    ['a number', { target: 7 }],
    ['a field that is not text', { ...fields, locode: 5 }],
  ])('refuses %s', (_what, body) => {
    expect(() => parseAliasTarget(body)).toThrow(refused);
  });
});

describe('a target must be routable', () => {
  const snapshot = smallSnapshot();

  it('passes a served route and an auto model', () => {
    expect(() => checkAliasTarget(snapshot, defra)).not.toThrow();
    expect(() =>
      checkAliasTarget(snapshot, { provider: 'auto', canonicalId: 'meta/llama', locode: null }),
    ).not.toThrow();
  });

  it.each([
    ['unknown provider', { ...defra, provider: 'nobody' }, 'provider "nobody" is not known'],
    ['unknown model', { ...defra, canonicalId: 'meta/nothing' }, 'model "meta/nothing" is not known'],
    ['unknown auto model', { provider: 'auto', canonicalId: 'x/y', locode: null }, 'model "x/y" is not known'],
    [
      'a provider without the model',
      { provider: 'zeta', canonicalId: 'meta/unpriced', locode: 'global' },
      'does not offer',
    ],
    ['a region that is not served', { ...defra, locode: 'jptyo' }, 'served in: defra, usnyc'],
    ['a required region that is missing', { ...defra, locode: 'global' }, 'a region is required'],
    ['an alias as target', { provider: 'alias', canonicalId: 'meta/llama', locode: 'global' }, 'provider "alias"'],
    ['a prototype name', { provider: '__proto__', canonicalId: 'constructor', locode: 'toString' }, '__proto__'],
  ])('refuses %s and says why', (_what, target, reason) => {
    expect(() => checkAliasTarget(snapshot, target)).toThrow(refused);
    expect(() => checkAliasTarget(snapshot, target)).toThrow(reason);
  });

  it('prints the target as a model id', () => {
    expect(targetModelId(defra)).toBe('acme/meta/llama/defra');
    expect(targetModelId({ provider: 'auto', canonicalId: 'meta/llama', locode: null })).toBe('auto/meta/llama');
  });
});

describe('alias names', () => {
  it.each(['a', '0', 'fast-1_x', 'a'.repeat(64), 'constructor'])('allows %s', (name) =>
    expect(isAliasName(name)).toBe(true),
  );
  it.each(['', '-a', '_a', 'A', 'a b', 'a/b', 'a'.repeat(65), 'é', 'a\n', '__proto__'])('refuses %j', (name) =>
    expect(isAliasName(name)).toBe(false),
  );
});
