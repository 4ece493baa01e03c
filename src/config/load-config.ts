/** Reads, checks and defaults the configuration: file, then environment. A fault is a ConfigFault with all of them. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { z } from 'zod';
import { describeValue, YamlSource } from '../base/yaml-source.js';
import type { Config } from './config.js';
import { ConfigFault } from './config-fault.js';
import { adminToken, type ConfigFile, configSchema, databaseUrl, host, port, redisUrl } from './config-schema.js';
import { configOf, type Overrides } from './defaults.js';

const defaultFile = 'lodestone.yaml';

export interface LoadOptions {
  /** As given by `--config`; else `LODESTONE_CONFIG`, else `./lodestone.yaml` if present. */
  file?: string | undefined;
  env: Environment;
  cwd: string;
}

export function loadConfig({ file, env, cwd }: LoadOptions): Config {
  const faults: string[] = [];
  const named = file ?? nonEmpty(env.LODESTONE_CONFIG);
  const chosen = named ?? (existsSync(resolve(cwd, defaultFile)) ? defaultFile : null);
  const path = chosen === null ? null : resolve(cwd, chosen);
  const source = chosen === null ? new YamlSource('', '') : readSource(chosen, resolve(cwd, chosen), faults);
  const checked = source && checkFile(source, env);
  const overrides = overridesOf(env, faults);
  if (source && checked) {
    checkWorkers(source, checked.settings, overrides);
    checkPayments(source, checked.settings);
  }
  faults.unshift(...(source?.faults ?? []));
  if (faults.length > 0 || !checked) throw new ConfigFault(faults);
  return configOf({ ...checked, overrides, file: path, directory: path === null ? resolve(cwd) : dirname(path) });
}

function readSource(shown: string, path: string, faults: string[]): YamlSource | undefined {
  try {
    return new YamlSource(shown, hideReferences(readFileSync(path, 'utf8')), showReferences);
  } catch (error) {
    faults.push(
      `${shown}:1:1: file: cannot be read (${(error as NodeJS.ErrnoException).code ?? (error as Error).message})`,
    );
    return undefined;
  }
}

function checkFile(source: YamlSource, env: Environment): CheckedFile | undefined {
  if (source.faults.length > 0) return undefined;
  const unconfigured = new Set<string>();
  const value = withReferences({ source, env, unconfigured }, source.value, []);
  const settings = source.check<ConfigFile>(configSchema, [], value);
  return settings && { settings, unconfigured };
}

interface CheckedFile {
  settings: ConfigFile;
  /** Providers whose `api_key` names an absent variable. */
  unconfigured: Set<string>;
}

/** An absent variable means "not configured" for a provider's credential, and is a fault anywhere else. */
function withReferences(reading: Reading, value: unknown, path: PropertyKey[]): unknown {
  if (typeof value === 'string') return withoutReferences(reading, value, path);
  if (Array.isArray(value)) return value.map((item, index) => withReferences(reading, item, [...path, index]));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, withReferences(reading, item, [...path, key])]),
  );
}

interface Reading {
  source: YamlSource;
  env: Environment;
  unconfigured: Set<string>;
}

function withoutReferences({ source, env, unconfigured }: Reading, value: string, path: PropertyKey[]): string | null {
  const { text, absent } = resolveReferences(value, env);
  const isCredential = path.length === 3 && path[0] === 'providers' && path[2] === 'api_key';
  if (isCredential && (absent.length > 0 || (text !== value && text.trim() === ''))) {
    unconfigured.add(String(path[1]));
    return null;
  }
  for (const name of absent) source.faultAt(path, `found \${${name}}, expected a variable that the environment has`);
  return absent.length > 0 ? null : text;
}

function overridesOf(env: Environment, faults: string[]): Overrides {
  const read = <T>(name: string, schema: z.ZodType<T>, secret: boolean): T | undefined => {
    const value = nonEmpty(env[name]);
    if (value === undefined) return undefined;
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    const found = secret ? 'a text' : describeValue(value);
    faults.push(`environment: ${name}: found ${found}, expected ${result.error.issues[0]?.message}`);
    return undefined;
  };
  return {
    host: read('HOST', host, false),
    port: read('PORT', port, false),
    databaseUrl: read('LODESTONE_DATABASE_URL', databaseUrl, true),
    redisUrl: read('LODESTONE_REDIS_URL', redisUrl, true),
    adminToken: read('LODESTONE_ADMIN_TOKEN', adminToken, true),
  };
}

/** Contract 2: processes share their counters and versions through Redis, so more than one needs it. */
function checkWorkers(source: YamlSource, settings: ConfigFile, overrides: Overrides): void {
  const workers = settings.workers ?? 1;
  if (workers === 1 || overrides.redisUrl || settings.storage?.redis_url) return;
  source.faultAt(['workers'], `found ${workers}, expected 1, or a storage.redis_url that the workers share`);
}

/** What is chosen has all that it needs, or nothing starts: a payment that cannot be confirmed would be worse. */
function checkPayments(source: YamlSource, { payments, notices }: ConfigFile): void {
  const needs = (path: string[], value: unknown, why: string) => {
    // What is there and names an absent variable has its fault already.
    if (value == null && source.valueAt(path) == null)
      source.faultAt(path, `missing, expected a value, because ${why}`);
  };
  if (payments?.processor === 'stripe') {
    const why = 'payments.processor is stripe';
    needs(['payments', 'secret_key'], payments.secret_key, why);
    needs(['payments', 'webhook_secret'], payments.webhook_secret, why);
  }
  if (notices?.webhook) {
    needs(['notices', 'webhook', 'url'], notices.webhook.url, 'notices.webhook is set');
    needs(['notices', 'webhook', 'secret'], notices.webhook.secret, 'notices.webhook is set');
  }
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value;
}

/**
 * `${NAME}` in a configuration file. Inside `{ … }` YAML takes its braces for a mapping, so they are hidden
 * before parsing, behind characters of the same width so that lines and columns stay true, and resolved after it.
 */
const written = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;
const hidden = /\$\uE000([A-Za-z_][A-Za-z0-9_]*)\uE001/g;

export type Environment = Readonly<Record<string, string | undefined>>;

export function hideReferences(text: string): string {
  return text.replace(written, '$\uE000$1\uE001');
}

/** Gives hidden references their written form back, for messages. */
export function showReferences(text: string): string {
  return text.replace(hidden, (_, name: string) => `\${${name}}`);
}

/** The text with every reference replaced; `absent` lists the variables that the environment does not have. */
export function resolveReferences(text: string, env: Environment): { text: string; absent: string[] } {
  const absent: string[] = [];
  const resolved = text.replace(hidden, (_, name: string) => {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value === undefined) absent.push(name);
    return value ?? '';
  });
  return { text: resolved, absent };
}
