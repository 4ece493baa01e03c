/** The gateway with the built-in catalogue: nothing but the sandbox without credentials, and what each credential adds. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtinVersion } from '../../src/catalogue/builtin.js';
import { versionDayMs } from '../../src/catalogue/update.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { ManualClock } from '../support/manual-clock.js';
import { full } from '../support/scaled.js';
import { registerEnvironment } from '../support/secrets.js';
import { builtinSnapshot, credentials, realRoutes } from './snapshots.js';

/** The gateway reads it at every reload. */
const env: Record<string, string> = {};
const folder = mkdtempSync(join(tmpdir(), 'lodestone-google-'));
const googleFile = join(folder, 'key.json');
let gateway: TestGateway;
let ids: string[];
beforeAll(async () => {
  writeFileSync(googleFile, '{}');
  // As of the catalogue's own day: later some of its routes are retired.
  gateway = await startGateway({ env, clock: new ManualClock(versionDayMs(builtinVersion)) });
  ids = realRoutes(await builtinSnapshot()).map(({ id }) => id);
});
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true });
});

async function reloadWith(more: Record<string, string>): Promise<void> {
  for (const name of Object.keys(env)) delete env[name];
  Object.assign(env, more);
  registerEnvironment(more);
  expect((await gateway.admin('POST', '/catalogue/reload')).status).toBe(200);
}

async function listed(): Promise<string[]> {
  const { status, json } = await gateway.call('GET', '/v1/models');
  expect(status).toBe(200);
  return (json.data as { id: string }[]).map(({ id }) => id);
}

const isSandbox = (id: string) => /^(sandbox|sandbox-spare|sandbox-us|auto)\/lodestone\//.test(id);
const messages = [{ role: 'user', content: 'Hi' }];

describe('a start with the built-in catalogue and no credentials', () => {
  it('lists the sandbox only', async () => {
    const models = await listed();
    expect(models.length).toBeGreaterThan(20);
    expect(models.filter((id) => !isSandbox(id))).toEqual([]);
  });

  it('answers the pin of every other route with 503 provider_not_configured, and calls nobody', async () => {
    const { key } = await gateway.createAccount();
    const { models } = await builtinSnapshot();
    const ask = (model: string) => {
      const [, creator, name] = model.split('/');
      const { kind = 'chat' } = models.get(`${creator}/${name}`)!;
      if (kind === 'chat') return gateway.chat({ model, messages }, { key });
      if (kind === 'embedding') return gateway.call('POST', '/v1/embeddings', { model, input: 'a' }, { key });
      return gateway.call('POST', '/v1/rerank', { model, query: 'a', documents: ['b'] }, { key });
    };
    const answers = await Promise.all(ids.map(ask));
    for (const [at, { status, json }] of answers.entries()) {
      expect([status, json.error], ids[at]).toEqual([
        503,
        {
          type: 'provider_unavailable',
          code: 'provider_not_configured',
          message: expect.stringContaining(ids[at]!.split('/')[0]!),
        },
      ]);
    }
    expect(answers.length).toBeGreaterThanOrEqual(600);
  });

  it('answers auto/ of a model that nobody can serve yet in the same way', async () => {
    const { status, json } = await gateway.chat({ model: 'auto/openai/gpt-5.5', messages });
    expect([status, json.error?.code]).toEqual([503, 'provider_not_configured']);
  });
});

/**
 * A reload takes a quarter of a second, and tests/catalogue/configured.test.ts shows of each provider which routes its credential makes
 * usable. `LODESTONE_FULL=1` looks at the lists of all of them, an ordinary run at those that need more than one variable and some others.
 */
const ofAKind = ['vertex', 'azure', 'bedrock', 'ollama'];
const looked = Object.keys(credentials).filter((id, at) => full || ofAKind.includes(id) || at % 5 === 0);

describe('one credential', () => {
  it.each(looked)('of %s adds its priced routes, an auto/ id for each model, and nothing else', async (id) => {
    const google: Record<string, string> = id === 'vertex' ? { GOOGLE_APPLICATION_CREDENTIALS: googleFile } : {};
    await reloadWith({ ...credentials[id], ...google });
    const snapshot = await builtinSnapshot();
    const own = realRoutes(snapshot).filter(({ provider, price }) => provider.id === id && price !== null);
    const expected = new Set(own.flatMap((route) => [route.id, `auto/${route.model.canonicalId}`]));
    expect((await listed()).filter((model) => !isSandbox(model)).sort()).toEqual([...expected].sort());
  });

  it('is taken away again by a reload without it', async () => {
    await reloadWith({ OPENAI_API_KEY: 'fake-credential-of-no-value' });
    await reloadWith({});
    expect((await listed()).filter((id) => !isSandbox(id))).toEqual([]);
  });
});
