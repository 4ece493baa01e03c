import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../base/logger.js';
import { dialects } from '../providers/dialects/registry.js';
import { type AmbientAuth, type Environment, hasAmbientCredentials } from './ambient-credentials.js';
import { CatalogueHolder } from './catalogue-holder.js';
import type { Provider } from './route.js';

const has = (auth: AmbientAuth, env: Environment, paths: string[] = [], vendor?: string) =>
  hasAmbientCredentials(auth, env, {
    exists: (path) => paths.includes(path),
    read: (path) => (path === '/sys/class/dmi/id/sys_vendor' ? vendor : undefined),
  });

describe('AWS\u2019s chain can plausibly yield something', () => {
  it.each<[string, Environment, string[], string | undefined]>([
    ['keys', { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' }, [], undefined],
    ['a profile', { AWS_PROFILE: 'p' }, [], undefined],
    ['a web identity', { AWS_WEB_IDENTITY_TOKEN_FILE: '/t' }, [], undefined],
    ['a container', { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/x' }, [], undefined],
    ['the shared credentials', { HOME: '/h' }, ['/h/.aws/credentials'], undefined],
    ['the shared configuration', { USERPROFILE: '/u' }, ['/u/.aws/config'], undefined],
    ['a file elsewhere', { HOME: '/h', AWS_CONFIG_FILE: '/e' }, ['/e'], undefined],
    ['an instance with a region', { AWS_REGION: 'eu-west-1' }, [], 'Amazon EC2\n'],
  ])('by %s', (_, env, paths, vendor) => expect(has('aws', env, paths, vendor)).toBe(true));

  it.each<[string, Environment, string[], string | undefined]>([
    ['nothing', {}, [], undefined],
    ['half of a key', { AWS_ACCESS_KEY_ID: 'a' }, [], undefined],
    ['a home without files', { HOME: '/h' }, [], undefined],
    ['an instance alone', {}, [], 'Amazon EC2'],
    ['a region alone', { AWS_REGION: 'eu-west-1' }, [], 'QEMU'],
    ['metadata that is switched off', { AWS_REGION: 'r', AWS_EC2_METADATA_DISABLED: 'True' }, [], 'Amazon EC2'],
  ])('and not by %s', (_, env, paths, vendor) => expect(has('aws', env, paths, vendor)).toBe(false));
});

describe('Google\u2019s chain can plausibly yield something', () => {
  const file = 'application_default_credentials.json';
  it.each<[string, Environment, string[], string | undefined]>([
    ['a named file', { GOOGLE_APPLICATION_CREDENTIALS: '/k.json' }, ['/k.json'], undefined],
    ['gcloud', { HOME: '/h' }, [`/h/.config/gcloud/${file}`], undefined],
    ['gcloud elsewhere', { HOME: '/h', CLOUDSDK_CONFIG: '/g' }, [`/g/${file}`], undefined],
    ['gcloud on Windows', { APPDATA: '/a' }, [`/a/gcloud/${file}`], undefined],
    ['Cloud Run', { K_SERVICE: 's' }, [], undefined],
    ['a machine with a project', { GOOGLE_CLOUD_PROJECT: 'p' }, [], 'Google'],
  ])('by %s', (_, env, paths, vendor) => expect(has('google', env, paths, vendor)).toBe(true));

  it.each<[string, Environment, string[], string | undefined]>([
    ['nothing', {}, [], undefined],
    ['a named file that is not there', { GOOGLE_APPLICATION_CREDENTIALS: '/k.json', K_SERVICE: 's' }, [], undefined],
    ['a machine alone', {}, [], 'Google'],
    ['a project alone', { GOOGLE_CLOUD_PROJECT: 'p' }, [], undefined],
  ])('and not by %s', (_, env, paths, vendor) => expect(has('google', env, paths, vendor)).toBe(false));
});

describe('how a provider is called', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lodestone-auth-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  async function providerOf(entry: string, env = {}, settings?: { apiKey: string | null }): Promise<Provider> {
    const file = join(folder, 'catalogue.yaml');
    const address = entry.includes('base_url') ? '' : ', base_url: "https://x.example"';
    writeFileSync(file, `providers: [{ id: p, ${entry}${address} }]`);
    const holder = new CatalogueHolder({
      files: [file],
      providerSettings: settings ? { p: settings } : {},
      env,
      clock: { now: () => 0, monotonicMs: () => 0 },
      logger: silentLogger,
      dialects,
    });
    await holder.load();
    return holder.current!.providers.get('p')!;
  }

  const aws = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' };
  const google = { K_SERVICE: 's' };
  const vertex = 'dialect: gemini, base_url: "https://europe-west4-aiplatform.googleapis.com/v1"';
  it.each<[string, Record<string, string>, { apiKey: string | null } | undefined, object]>([
    ['dialect: openai', aws, undefined, { auth: 'key', configured: false }],
    ['dialect: openai, auth: none', {}, undefined, { auth: 'none', configured: true }],
    ['dialect: bedrock', {}, undefined, { auth: 'aws', configured: false }],
    ['dialect: bedrock', aws, undefined, { auth: 'aws', configured: true }],
    ['dialect: bedrock, api_key_env: K', { ...aws, K: 'k' }, undefined, { auth: 'key', configured: true, apiKey: 'k' }],
    ['dialect: bedrock, auth: key', aws, undefined, { auth: 'key', configured: false }],
    ['dialect: bedrock', aws, { apiKey: 'c' }, { auth: 'key', configured: true, apiKey: 'c' }],
    ['dialect: bedrock', aws, { apiKey: null }, { configured: false }],
    ['dialect: gemini', google, undefined, { auth: 'key', configured: false }],
    ['dialect: gemini, auth: google', google, undefined, { auth: 'google', configured: true }],
    ['dialect: openai, auth: google', google, undefined, { auth: 'google', configured: true }],
    [vertex, google, undefined, { auth: 'google', configured: true }],
    [vertex, {}, undefined, { auth: 'google', configured: false }],
  ])('{ %s } in %j with %j', async (entry, env, settings, expected) => {
    expect(await providerOf(entry, env, settings)).toMatchObject(expected);
  });

  it('refuses to sign for anybody but Bedrock', async () => {
    await expect(providerOf('dialect: openai, auth: aws')).rejects.toThrow(/bedrock only/);
  });
});
