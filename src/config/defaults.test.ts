import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Config } from './config.js';
import { ConfigFault } from './config-fault.js';
import { type Environment, loadConfig } from './load-config.js';

const directory = mkdtempSync(join(tmpdir(), 'lodestone-config-'));
afterAll(() => rmSync(directory, { recursive: true }));

function load(yaml: string, env: Environment = {}): Config {
  writeFileSync(join(directory, 'lodestone.yaml'), yaml);
  return loadConfig({ env, cwd: directory });
}

function faultsOf(yaml: string, env: Environment = {}): readonly string[] {
  try {
    load(yaml, env);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigFault);
    return (error as ConfigFault).faults;
  }
}

describe('who may sign up by default', () => {
  const defaultsOf = (yaml: string, env: Environment = {}) => {
    const { registration, welcomeCreditPico } = load(yaml, env);
    return [registration, welcomeCreditPico];
  };
  const oneUsd = 1_000_000_000_000n;

  it.each([
    ['nothing is configured', ''],
    ['the host is another loopback address', 'server: { host: 127.8.0.1 }'],
    ['the host is ::1', 'server: { host: "::1" }'],
    ['the host is localhost', 'server: { host: localhost, base_url: "http://localhost:8787" }'],
    ['base_url is loopback', 'server: { base_url: "http://[::1]:8787" }'],
    ['the database is the operator’s own', 'storage: { database_url: "postgres://db/lodestone" }'],
  ])('anybody, with welcome credit, while %s', (_, yaml) => {
    expect(defaultsOf(yaml)).toEqual(['open', oneUsd]);
  });

  it.each<[string, string, Environment?]>([
    ['the server listens on every address', 'server: { host: 0.0.0.0 }'],
    ['the server listens on every address of both families', 'server: { host: "::" }'],
    ['HOST is another address', '', { HOST: '192.0.2.7' }],
    ['base_url is public', 'server: { base_url: "https://ai.example.com" }'],
    ['base_url only looks like loopback', 'server: { base_url: "http://127.0.0.1.example.com" }'],
    ['dashboard_url is public', 'server: { dashboard_url: "https://ai.example.com/dashboard" }'],
    ['a proxy is trusted', 'server: { trusted_proxies: [10.0.0.0/8] }'],
  ])('nobody, and no welcome credit, where %s', (_, yaml, env) => {
    expect(defaultsOf(yaml, env)).toEqual(['closed', 0n]);
    expect(defaultsOf(`${yaml}\nregistration: open\nwelcome_credit_usd: "0.25"`, env)).toEqual(['open', oneUsd / 4n]);
    expect(defaultsOf(`${yaml}\nregistration: open`, env), 'credit is written down on its own').toEqual(['open', 0n]);
  });
});

describe('the admin token', () => {
  const advice = 'expected a token of at least 24 characters, such as one from: openssl rand -base64 32';

  it('of fewer than 24 characters stops the start, and is not quoted', () => {
    expect(faultsOf(`admin_token: ${'t'.repeat(23)}`)).toEqual([
      `lodestone.yaml:1:14: admin_token: found a text, ${advice}`,
    ]);
    expect(faultsOf('', { LODESTONE_ADMIN_TOKEN: 'x' })).toEqual([
      `environment: LODESTONE_ADMIN_TOKEN: found a text, ${advice}`,
    ]);
    expect(load(`admin_token: ${'t'.repeat(24)}`).adminToken).toBe('t'.repeat(24));
  });
});
