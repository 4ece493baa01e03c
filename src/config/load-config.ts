/** Reads the configuration from the file and the environment. Throws one ConfigFault with every fault that it finds. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { describeValue, YamlSource } from '../base/yaml-source.js';
import type { Config } from './config.js';
import { ConfigFault } from './config-fault.js';
import { configSchema, type FileValues, includedSchema } from './config-schema.js';
import { configOf } from './defaults.js';
import { checkIdentityProviders, type WrittenProvider } from './identity-providers.js';
import { checkKeys, type ProviderValues } from './provider-settings.js';
import { readSecret, readSecretFiles } from './secret-files.js';
import type { Setting } from './setting.js';
import { sections, topLevel } from './settings.js';

const defaultFile = 'lodestone.yaml';

interface LoadOptions {
  /** As given by `--config`; else `LODESTONE_CONFIG`, else `./lodestone.yaml` if present. */
  file?: string | undefined;
  env: Environment;
  cwd: string;
  /** For a program that calls no provider: credentials of providers may be absent. */
  callsNobody?: boolean;
}

export function loadConfig({ file, env, cwd, callsNobody = false }: LoadOptions): Config {
  const faults: string[] = [];
  const named = file ?? nonEmpty(env.LODESTONE_CONFIG);
  const chosen = named ?? (existsSync(resolve(cwd, defaultFile)) ? defaultFile : null);
  const path = chosen === null ? null : resolve(cwd, chosen);
  const source = chosen === null ? new YamlSource('', '') : readSource(chosen, resolve(cwd, chosen), faults);
  const directory = path === null ? resolve(cwd) : dirname(path);
  const checked = source && checkFile(source, { env, callsNobody });
  const included = source && checked ? includedFiles(source, checked, directory, { env, callsNobody }) : [];
  const environment = environmentValues(env, cwd, faults);
  if (source && checked) {
    readSecretFiles(source, checked.values, directory);
    checkWorkers(source, checked.values, environment);
    checkNeeded(source, checked.values);
    const { oidc } = fieldsIn(checked.values.sign_in);
    if (oidc) checkIdentityProviders(source, oidc as WrittenProvider[]);
    for (const file of [source, ...included]) checkKeys(file, (checked.values.providers ?? {}) as ProviderValues);
  }
  for (const file of included) faults.push(...file.faults);
  faults.unshift(...(source?.faults ?? []));
  if (faults.length > 0 || !checked) throw new ConfigFault(faults);
  return configOf({ ...checked, environment, file: path, directory });
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

type Given = Pick<Reading, 'env' | 'callsNobody'>;

function checkFile(source: YamlSource, given: Given, schema = configSchema): CheckedFile | undefined {
  if (source.faults.length > 0) return undefined;
  const unconfigured = new Set<string>();
  const value = resolveAll({ source, unconfigured, ...given }, source.value, []);
  const values = source.check<FileValues>(schema, [], value);
  return values && { values, unconfigured };
}

/** Takes the providers of other files in. One that stands in two places would have settings that nobody can foresee. */
function includedFiles(source: YamlSource, checked: CheckedFile, directory: string, given: Given): YamlSource[] {
  const names = (checked.values.include ?? []) as string[];
  const faults: string[] = [];
  const files = names.flatMap((name) => readSource(name, resolve(directory, name), faults) ?? []);
  const from = new Map(Object.keys(fieldsIn(checked.values.providers)).map((id) => [id, source.file]));
  for (const file of files) {
    const own = checkFile(file, given, includedSchema);
    for (const [id, settings] of Object.entries(fieldsIn(own?.values.providers))) {
      const earlier = from.get(id);
      if (earlier !== undefined)
        file.faultAt(['providers', id], `found a provider that ${earlier} has too, expected it in one file`);
      from.set(id, file.file);
      checked.values.providers = { ...fieldsIn(checked.values.providers), [id]: settings };
    }
    for (const id of own?.unconfigured ?? []) checked.unconfigured.add(id);
  }
  for (const fault of faults) source.faults.push(fault);
  return files;
}

const fieldsIn = (value: unknown) => (value ?? {}) as Record<string, unknown>;

interface CheckedFile {
  values: FileValues;
  /** Providers whose `api_key` names an absent variable. */
  unconfigured: Set<string>;
}

/** Replaces the references in every text. An absent variable means "not configured" for a provider's credential, and is a fault anywhere else. */
function resolveAll(reading: Reading, value: unknown, path: PropertyKey[]): unknown {
  if (typeof value === 'string') return resolveText(reading, value, path);
  if (Array.isArray(value)) return value.map((item, index) => resolveAll(reading, item, [...path, index]));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, resolveAll(reading, item, [...path, key])]),
  );
}

interface Reading {
  source: YamlSource;
  env: Environment;
  unconfigured: Set<string>;
  callsNobody: boolean;
}

function resolveText(
  { source, env, unconfigured, callsNobody }: Reading,
  value: string,
  path: PropertyKey[],
): string | null {
  const { text, absent } = resolveReferences(value, env);
  // Beside a list of keys it is one of them, and a list is complete.
  const isCredential =
    path.length === 3 &&
    path[0] === 'providers' &&
    path[2] === 'api_key' &&
    source.valueAt([...path.slice(0, 2), 'keys']) == null;
  if (isCredential && (absent.length > 0 || (text !== value && text.trim() === ''))) {
    unconfigured.add(String(path[1]));
    return null;
  }
  if (callsNobody && absent.length > 0 && path[0] === 'providers' && path.at(-1) === 'api_key')
    return showReferences(value);
  for (const name of absent) source.faultAt(path, `found \${${name}}, expected a variable that the environment has`);
  return absent.length > 0 ? null : text;
}

/** The values of the variables that win over the file. */
function environmentValues(env: Environment, cwd: string, faults: string[]): Map<string, unknown> {
  const values = new Map<string, unknown>();
  const settings: Setting[] = [topLevel, ...Object.values(sections)].flatMap((rows) => Object.values<Setting>(rows));
  for (const { accepts, env: variable, isSecret } of settings) {
    if (variable === undefined) continue;
    const text = nonEmpty(env[variable]);
    const file = isSecret && nonEmpty(env[`${variable}_FILE`]);
    if (file) {
      const read = text
        ? { fault: `is set beside ${variable}, expected one of the two` }
        : readSecret(resolve(cwd, file), accepts);
      if ('fault' in read) faults.push(`environment: ${variable}_FILE: ${describeValue(file)} ${read.fault}`);
      else values.set(variable, read.value);
      continue;
    }
    if (text === undefined) continue;
    const result = accepts.safeParse(text);
    if (result.success) {
      values.set(variable, result.data);
      continue;
    }
    const [issue] = result.error.issues;
    const isHidden = issue?.code === 'custom' && issue.params?.secret === true;
    faults.push(
      `environment: ${variable}: found ${isHidden ? 'a text' : describeValue(text)}, expected ${issue?.message}`,
    );
  }
  return values;
}

/** Processes share their counters and versions through Redis, so more than one needs it. */
function checkWorkers(source: YamlSource, values: FileValues, environment: ReadonlyMap<string, unknown>): void {
  const workers = values.workers ?? topLevel.workers.default;
  const { redis_url, redis_url_file } = (values.storage ?? {}) as Record<string, unknown>;
  if (workers === 1 || redis_url || redis_url_file || environment.has(sections.storage.redis_url.env!)) return;
  source.faultAt(['workers'], `found ${workers}, expected 1, or a storage.redis_url that the workers share`);
}

/**
 * Stripe and the webhook need their secrets: a payment that cannot be confirmed is worse than a start that fails. Mail needs a
 * server and a sender, and an update of the catalogue a key.
 */
function checkNeeded(source: YamlSource, values: FileValues): void {
  const { payments, notices, mail, catalogue_updates } = values;
  const needs = (path: string[], values: FileValues, why: string) => {
    // A field that names an absent variable, or a file that cannot be read, has its fault already.
    const last = path.at(-1)!;
    if (values[last] == null && source.valueAt(path) == null && values[`${last}_file`] == null)
      source.faultAt(path, `missing, expected a value, because ${why}`);
  };
  const stripe = (payments ?? {}) as FileValues;
  if (stripe.processor === 'stripe') {
    const why = 'payments.processor is stripe';
    needs(['payments', 'secret_key'], stripe, why);
    needs(['payments', 'webhook_secret'], stripe, why);
  }
  const { webhook } = (notices ?? {}) as { webhook?: FileValues };
  if (webhook) {
    needs(['notices', 'webhook', 'url'], webhook, 'notices.webhook is set');
    needs(['notices', 'webhook', 'secret'], webhook, 'notices.webhook is set');
  }
  const { smtp_url, smtp_url_file, from } = (mail ?? {}) as FileValues;
  if (smtp_url != null || smtp_url_file != null) needs(['mail', 'from'], mail as FileValues, 'mail.smtp_url is set');
  if (from != null) needs(['mail', 'smtp_url'], mail as FileValues, 'mail.from is set');
  const updates = (catalogue_updates ?? {}) as FileValues;
  if (updates.url != null) needs(['catalogue_updates', 'key'], updates, 'catalogue_updates.url is set');
  if ((updates.apply ?? 'never') !== 'never')
    needs(['catalogue_updates', 'url'], updates, `catalogue_updates.apply is ${updates.apply}`);
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

function hideReferences(text: string): string {
  return text.replace(written, '$\uE000$1\uE001');
}

/** Gives hidden references their written form back, for messages. */
function showReferences(text: string): string {
  return text.replace(hidden, (_, name: string) => `\${${name}}`);
}

/** The text with every reference replaced; `absent` lists the variables that the environment does not have. */
function resolveReferences(text: string, env: Environment): { text: string; absent: string[] } {
  const absent: string[] = [];
  const resolved = text.replace(hidden, (_, name: string) => {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value === undefined) absent.push(name);
    return value ?? '';
  });
  return { text: resolved, absent };
}
