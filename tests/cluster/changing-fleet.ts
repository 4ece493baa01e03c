/** What the fleet has that the tests of changes need: tokens in files, and a catalogue with a provider for each kind of answer. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Reply } from '../support/client.js';
import { catalogueOf } from '../support/gateway.js';
import { adminToken, type YamlObject } from '../support/gateway-files.js';
import { conversationCatalogue } from './conversations-suite.js';
import { ownCatalogue } from './own-credentials-suite.js';

const folder = mkdtempSync(join(tmpdir(), 'lodestone-tokens-'));
export const [adminFile, metricsFile] = [join(folder, 'admin'), join(folder, 'metrics')];
export const metricsToken = 'a-metrics-token-of-some-length';

export const pinOf = (provider: string) => `${provider}/meta/llama-3.3-70b/defra`;

/** What to start it with. */
export function changingFleet(): { config: YamlObject; catalogue: (url: string) => YamlObject; remove(): void } {
  writeFileSync(adminFile, `${adminToken}\n`);
  writeFileSync(metricsFile, metricsToken);
  const tokens = { admin_token: null, admin_token_file: adminFile, metrics_token_file: metricsFile };
  return {
    config: { ...tokens, registration: 'open' },
    catalogue: (url) => catalogueAt(url, 1),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

/** The providers are told apart by the model that they are asked for; `price` is that of `priced`. */
export function catalogueAt(url: string, price: number): YamlObject {
  const names = ['acme', 'beta', 'down', 'quota', 'priced'];
  const routes = Object.fromEntries(names.map((name) => [name, { upstream_model: name }]));
  const catalogue = catalogueOf(Object.fromEntries(names.map((name) => [name, url])), {
    routes: { ...routes, priced: { upstream_model: 'priced', price: { input: price, output: price } } },
  });
  const spare = catalogueOf({ acme: url }, { model: 'spare', route: { upstream_model: 'spare' } });
  const others = [spare, conversationCatalogue(url), ownCatalogue(url)];
  return {
    ...catalogue,
    providers: [
      ...(catalogue.providers as object[]),
      ...conversationCatalogue(url).providers,
      ...ownCatalogue(url).providers,
    ],
    models: [catalogue, ...others].flatMap(({ models }) => models as object[]),
  };
}

export async function good(status: number, call: Promise<Reply>): Promise<Reply> {
  const reply = await call;
  if (reply.status !== status) throw new Error(`Expected ${status}, got ${reply.status}: ${reply.text}`);
  return reply;
}
