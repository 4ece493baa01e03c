import { describe, expect, it } from 'vitest';
import { YamlSource } from '../base/yaml-source.js';
import { providers } from './provider-settings.js';

function check(yaml: string) {
  const source = new YamlSource('lodestone.yaml', `providers:\n  acme:\n    agreement: ${yaml}`);
  return { value: source.check(providers, ['providers']), faults: source.faults };
}

describe('an agreement with a provider', () => {
  it('has the fields of a data policy and a reference', () => {
    const agreement = { trains: false, retention_days: 0, in_region: true, reference: 'amendment' };
    expect(check(JSON.stringify(agreement)).value).toEqual({ acme: { agreement } });
  });

  it.each([
    ['{ retention_days: -1 }', 'lodestone.yaml:3:34: providers.acme.agreement.retention_days: found -1'],
    ['{ retention_days: 1.5 }', 'providers.acme.agreement.retention_days: found 1.5, expected an integer'],
    ['{ certifications: [soc9] }', 'providers.acme.agreement.certifications[0]: found "soc9", expected one of'],
    ['{ training: false }', 'lodestone.yaml:3:18: providers.acme.agreement.training: unknown field'],
  ])('%s is a fault with its line', (yaml, fault) => {
    const { value, faults } = check(yaml);
    expect([value, faults.join()]).toEqual([undefined, expect.stringContaining(fault)]);
  });
});
