// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration writes its references this way
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { ConfigFault } from './config-fault.js';
import { type Environment, loadConfig } from './load-config.js';

const directory = mkdtempSync(join(tmpdir(), 'lodestone-include-'));
afterAll(() => rmSync(directory, { recursive: true }));

function load(yaml: string, env: Environment = {}) {
  writeFileSync(join(directory, 'lodestone.yaml'), yaml);
  return loadConfig({ env, cwd: directory });
}

function faultsOf(yaml: string): readonly string[] {
  try {
    load(yaml);
  } catch (error) {
    return (error as ConfigFault).faults;
  }
  return [];
}

describe('include', () => {
  const include = (name: string, yaml: string) => writeFileSync(join(directory, name), yaml);

  it('takes in the providers of other files, with their references', () => {
    include('more.yaml', 'providers:\n  openai: { api_key: "${KEY}" }\n  azure: { api_key: "${ABSENT}" }\n');
    const { providers } = load('include: [more.yaml]\nproviders: { mistral: { api_key: m } }\n', { KEY: 'secret' });
    expect(Object.keys(providers).sort()).toEqual(['azure', 'mistral', 'openai']);
    expect(providers.openai).toMatchObject({ apiKey: 'secret' });
  });

  it('a provider in two places stops the start, with file and line', () => {
    include('more.yaml', 'providers:\n  openai: { api_key: b }\n');
    expect(faultsOf('include: [more.yaml]\nproviders: { openai: { api_key: a } }\n')).toEqual([
      expect.stringMatching(/^more\.yaml:2:\d+: providers\.openai: found a provider that lodestone\.yaml has too/),
    ]);
  });

  it('a file that is not there, no YAML, or has other fields is a fault', () => {
    expect(faultsOf('include: [absent.yaml]\n')).toEqual([
      expect.stringContaining('absent.yaml:1:1: file: cannot be read'),
    ]);
    include('more.yaml', 'providers: [');
    expect(faultsOf('include: [more.yaml]\n')).toEqual([expect.stringContaining('more.yaml:1')]);
    include('more.yaml', 'server: { port: 1 }\n');
    expect(faultsOf('include: [more.yaml]\n')).toEqual([expect.stringContaining('more.yaml:1')]);
  });
});
