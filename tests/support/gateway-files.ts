/** The files of one test gateway: a temporary folder with its configuration, its catalogue and its data, and a database of its own. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { searchAtRest } from './kept-by-gateway.js';
import { freshDatabase, placeCluster } from './postgres.js';
import { registerSecret } from './secrets.js';

export const adminToken = 'test-admin-token-of-no-value';

export interface GatewayFilesOptions {
  /** Merged, level by level, over what the tests use by default. */
  config?: YamlObject;
  /** Written as a catalogue file and used alone; without it the built-in one is used. */
  catalogue?: YamlObject;
  /** Let the gateway start its own PostgreSQL in its data folder; with 'first' it makes the cluster too, as a first start does. */
  embedded?: boolean | 'first';
}

export interface YamlObject {
  [key: string]: unknown;
}

export interface GatewayFiles {
  folder: string;
  configFile: string;
  catalogueFile: string;
  dataDir: string;
  databaseUrl: string | null;
  /** Replaces the catalogue file; a reload reads it. */
  writeCatalogue(catalogue: YamlObject): void;
  /** Merged, level by level, over the configuration; the next start reads it. */
  changeConfig(changes: YamlObject): void;
  remove(): Promise<void>;
}

/**
 * The default time budgets, about fifty times shorter, in the same proportions: for tests that wait for one to expire. The others have the
 * default ones, as a busy machine may leave an upstream of the tests without an answer for seconds.
 */
export const shortTimeouts = {
  first_byte_streaming: '800ms',
  first_byte_streaming_after_timeout: '400ms',
  first_byte_non_streaming: '1500ms',
  stream_idle: '800ms',
  overall: '4s',
};

export async function createGatewayFiles(options: GatewayFilesOptions = {}): Promise<GatewayFiles> {
  const folder = mkdtempSync(join(tmpdir(), 'lodestone-gateway-'));
  const configFile = join(folder, 'lodestone.yaml');
  const catalogueFile = join(folder, 'catalogue.yaml');
  const dataDir = join(folder, 'data');
  const database = options.embedded ? null : await freshDatabase();
  // JSON is YAML, and is written and parsed in a third of the time; so is the configuration below.
  const writeCatalogue = (catalogue: YamlObject) => writeFileSync(catalogueFile, JSON.stringify(catalogue));
  const { database_url: given } = (options.config?.storage ?? {}) as { database_url?: unknown };
  if (options.embedded === true && !given) placeCluster(inject('newCluster'), dataDir);
  if (options.catalogue) writeCatalogue(options.catalogue);
  const defaults: YamlObject = {
    server: { host: '127.0.0.1', port: 0 },
    storage: { data_dir: dataDir, database_url: database?.databaseUrl ?? null },
    demo: false,
    admin_token: adminToken,
    ...(database && { registration: 'closed', welcome_credit_usd: '0' }),
    catalogue: options.catalogue ? [catalogueFile] : ['builtin'],
    limits: { ip_requests_per_minute: 1e6, key_requests_per_minute: 1e6, key_tokens_per_minute: 1e9 },
  };
  let config: YamlObject = defaults;
  const changeConfig = (changes: YamlObject) => {
    config = merged(config, changes);
    registerSecrets(config);
    writeFileSync(configFile, JSON.stringify(config, null, 2));
  };
  changeConfig(options.config ?? {});
  return {
    folder,
    configFile,
    catalogueFile,
    dataDir,
    databaseUrl: database?.databaseUrl ?? null,
    writeCatalogue,
    changeConfig,
    async remove() {
      try {
        await searchAtRest(dataDir, database?.databaseUrl ?? null);
      } finally {
        await database?.drop();
        rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
      }
    },
  };
}

function registerSecrets({ admin_token, providers }: YamlObject): void {
  registerSecret('the admin token', admin_token);
  for (const [id, settings] of Object.entries((providers ?? {}) as Record<string, YamlObject | null>)) {
    registerSecret(`the credential of ${id}`, settings?.api_key);
  }
}

function merged(base: YamlObject, over: YamlObject): YamlObject {
  const result: YamlObject = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const below = result[key];
    result[key] = isObject(below) && isObject(value) ? merged(below, value) : value;
  }
  return result;
}

function isObject(value: unknown): value is YamlObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
