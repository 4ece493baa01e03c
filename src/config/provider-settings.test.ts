// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration writes its references this way
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { YamlSource } from '../base/yaml-source.js';
import type { ConfigFault } from './config-fault.js';
import { loadConfig } from './load-config.js';
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

describe('keys of a provider', () => {
  const directory = mkdtempSync(join(tmpdir(), 'lodestone-keys-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  const load = (yaml: string) => {
    writeFileSync(join(directory, 'lodestone.yaml'), `providers:\n  acme:\n    ${yaml}\n`);
    return loadConfig({ env: { A: 'sk-a', B: 'sk-b' }, cwd: directory }).providers.acme;
  };
  const faultsOf = (yaml: string) => {
    try {
      load(yaml);
    } catch (error) {
      return (error as ConfigFault).faults.join('\n');
    }
    return '';
  };

  it('have a name, a secret or its file, a weight of 1 by default, and models', () => {
    writeFileSync(join(directory, 'secret'), 'sk-file\n');
    const keys =
      'keys: [{ name: a, api_key: "${A}", weight: 2.5 }, { name: our b, api_key_file: secret, models: [openai/*] }]';
    expect(load(keys)).toEqual({
      keys: [
        { name: 'a', apiKey: 'sk-a', weight: 2.5, models: null },
        { name: 'our b', apiKey: 'sk-file', weight: 1, models: ['openai/*'] },
      ],
    });
  });

  it('have the api_key beside them as the key `default`', () => {
    expect(load('api_key: ${A}\n    keys: [{ name: b, api_key: "${B}" }]')).toEqual({
      keys: [
        { name: 'default', apiKey: 'sk-a', weight: 1, models: null },
        { name: 'b', apiKey: 'sk-b', weight: 1, models: null },
      ],
    });
  });

  it.each([
    ['keys: [{ name: a, api_key: x }, { name: a, api_key: y }]', '3:45: providers.acme.keys[1].name: found "a" again'],
    ['api_key: x\n    keys: [{ name: default, api_key: y }]', 'keys[0].name: found "default" again'],
    [
      'keys: [{ name: a, api_key: ${NONE} }]',
      '3:32: providers.acme.keys[0].api_key: found ${NONE}, expected a variable',
    ],
    [
      'api_key: ${NONE}\n    keys: [{ name: a, api_key: x }]',
      '3:14: providers.acme.api_key: found ${NONE}, expected a variable',
    ],
    ['keys: [{ name: a, api_key: x, weight: 0.5 }]', 'keys[0].weight: found 0.5, expected a number from 1'],
    ['keys: [{ name: a, api_key: x, weight: 0 }]', 'expected a number from 1'],
    ['keys: [{ name: a }]', 'keys[0].api_key: missing, expected a credential'],
    ['keys: [{ api_key: x }]', 'keys[0].name: found nothing, expected a name'],
    ['keys: []', 'expected at least one key'],
    ['keys: [{ name: a, api_key: x, models: [] }]', 'expected at least one model'],
    [
      'keys: [{ name: a, api_key: x, models: ["*"] }]',
      'keys[0].models[0]: found "*", expected a model as {creator}/{model}',
    ],
    ['keys: [{ name: a, api_key: "s e c r e t" }]', 'keys[0].api_key: found a text, expected a credential'],
    ['keys: [{ name: a, api_key_file: none }]', 'keys[0].api_key_file: "none" cannot be read (ENOENT)'],
    ['keys: [{ name: a, api_key: x, api_key_file: y }]', 'expected one of the two'],
  ])('%s stops the start with its line', (yaml, fault) => {
    expect(faultsOf(yaml)).toContain(fault);
  });
});
