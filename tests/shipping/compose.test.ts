import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseDurationMs } from '../../src/base/time.js';
import { loadConfig } from '../../src/config/load-config.js';
import { manifest, root, textOf, type Yaml, yamlOf } from './shipped-files.js';

const compose: Yaml = yamlOf('compose.yaml')[0];
const services: [string, Yaml][] = Object.entries(compose.services);
const { lodestone } = compose.services;
const example = Object.fromEntries(
  [...textOf('deploy/compose/example.env').matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]),
);
/** What whoever copies the example has to fill in. */
const filled = { ...example, POSTGRES_PASSWORD: 'p4ss', LODESTONE_ADMIN_TOKEN: 'an-admin-token-of-the-operator' };
const variable = /\$\{(\w+)(?::([-?])([^}]*))?\}/g;

/** What the gateway's environment is, as Compose replaces variables. */
function environmentOf(from: Record<string, string>): Record<string, string> {
  const value = (_: string, name: string, _sign: string, otherwise?: string) => from[name] || otherwise || '';
  return Object.fromEntries(
    Object.entries<string>(lodestone.environment).map(([name, text]) => [name, text.replace(variable, value)]),
  );
}
const configOf = (env: Record<string, string>) =>
  loadConfig({ file: 'deploy/compose/lodestone.yaml', env: { ...env, PORT: '8787' }, cwd: root });

describe('compose.yaml', () => {
  it('names variables that the configuration reads: store, Redis, token, address and credentials arrive', () => {
    const config = configOf(environmentOf({ ...filled, OPENAI_API_KEY: 'k1' }));
    expect(config.storage).toMatchObject({
      databaseUrl: 'postgres://lodestone:p4ss@postgres:5432/lodestone',
      redisUrl: 'redis://valkey:6379',
    });
    expect(config.adminToken).toBe('an-admin-token-of-the-operator');
    expect(config.server.baseUrl).toBe(example.LODESTONE_PUBLIC_URL);
    expect(config.registration).toBe('closed');
    expect(config.providers.openai?.apiKey).toBe('k1');
    expect(config.providers.anthropic?.apiKey, 'empty: not configured').toBeNull();
  });

  it('finds its own services under the names that it uses, and stops without a secret', () => {
    const env = environmentOf(filled);
    for (const address of [env.LODESTONE_DATABASE_URL!, env.LODESTONE_REDIS_URL!]) {
      expect(Object.keys(compose.services)).toContain(new URL(address).hostname);
    }
    expect(textOf('deploy/compose/Caddyfile')).toContain('dynamic a lodestone 8787');
    const used = [...textOf('compose.yaml').matchAll(variable)];
    for (const [, name, sign] of used) {
      if (sign === '?') expect(example, `${name} is in the example, empty`).toHaveProperty(name!, '');
    }
    expect(new Set(used.filter(([, , sign]) => sign === '?').map(([, name]) => name))).toEqual(
      new Set(['POSTGRES_PASSWORD', 'LODESTONE_ADMIN_TOKEN']),
    );
  });

  it('trusts the addresses of its own network, which holds the proxy, and no other', () => {
    const [{ subnet }] = compose.networks.inside.ipam.config;
    expect(configOf(environmentOf(filled)).server.trustedProxies).toEqual([subnet]);
    for (const [name, { networks }] of services) expect(networks, name).toEqual(['inside']);
  });

  it('gives running answers longer than server.drain, and that longer than timeouts.overall', () => {
    const { server, timeouts } = configOf(environmentOf(filled));
    expect(server.drainMs).toBeGreaterThan(timeouts.overallMs);
    for (const name of ['lodestone', 'proxy']) {
      expect(parseDurationMs(compose.services[name].stop_grace_period)).toBeGreaterThan(server.drainMs + 20_000);
    }
    const [, header] = /response_header_timeout (\S+)/.exec(textOf('deploy/compose/Caddyfile'))!;
    expect(parseDurationMs(header!)).toBeGreaterThan(timeouts.overallMs);
  });

  it('runs the gateway on a read-only file system without rights, with its journals on a volume', () => {
    expect(lodestone).toMatchObject({
      image: `lodestone:${manifest.version}`,
      read_only: true,
      tmpfs: ['/tmp'],
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
    expect(lodestone.volumes).toContain('journal:/lodestone/data');
    expect(compose.volumes).toHaveProperty('journal');
  });

  it.each(services)('%s has a pinned image, starts again, and waits for what it needs', (_, service) => {
    expect(service.image).toMatch(/^[a-z/]+:\d+(\.\d+)*(-[a-z]+)?$/);
    expect(service.restart).toBe('unless-stopped');
    for (const [needed, { condition }] of Object.entries<Yaml>(service.depends_on ?? {})) {
      expect(condition).toBe('service_healthy');
      // Lodestone's check is its image's.
      if (needed !== 'lodestone') expect(compose.services[needed].healthcheck.test[0]).toBe('CMD');
    }
    const mounted = (service.volumes ?? []).map((volume: string) => volume.split(':')[0]!);
    for (const source of mounted) {
      if (source.startsWith('.')) expect(existsSync(join(root, source)), source).toBe(true);
      else expect(compose.volumes).toHaveProperty(source);
    }
  });

  it('is reached from this machine alone until somebody decides otherwise', () => {
    for (const [name, { ports = [] }] of services) {
      for (const port of ports) expect(port, name).toMatch(/^127\.0\.0\.1:/);
    }
  });
});
