/** Finds the address and the admin token of the server: options first, then environment, configuration, and the file of a first start. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/config.js';
import { ConfigFault } from '../config/config-fault.js';
import { loadConfig } from '../config/load-config.js';
import { CommandFailure, type Io } from './io.js';
import type { Secret } from './secrets.js';

export interface Connection {
  readonly url: string;
  readonly token: string;
  /** For the message when the token is refused. */
  readonly tokenSource: string;
}

interface ConnectionOptions {
  url?: string | undefined;
  /** From an option or the environment. */
  adminToken?: Secret | undefined;
  config?: string | undefined;
}

export function findConnection(options: ConnectionOptions, io: Io): Connection {
  const config = lazily(() => readConfig(options.config, io, true));
  return { url: urlOf(options, io, config), ...findToken(options, config) };
}

/** The address alone, for what is public. */
export function findUrl(options: Pick<ConnectionOptions, 'url' | 'config'>, io: Io): string {
  return urlOf(options, io, () => readConfig(options.config, io, true));
}

function urlOf({ url }: Pick<ConnectionOptions, 'url'>, { env }: Io, config: () => Config): string {
  return normalizedUrl(url ?? nonEmpty(env.LODESTONE_URL) ?? addressOf(config()));
}

/** `callsNobody`: the command calls no provider, so their credentials need not be in its environment. */
export function readConfig(file: string | undefined, io: Io, callsNobody = false): Config {
  try {
    return loadConfig({ file, env: io.env, cwd: io.cwd, callsNobody });
  } catch (error) {
    if (error instanceof ConfigFault) throw new CommandFailure(error.message);
    throw error;
  }
}

function findToken(options: ConnectionOptions, config: () => Config): { token: string; tokenSource: string } {
  if (options.adminToken) return { token: options.adminToken.value, tokenSource: options.adminToken.source };
  const { adminToken, file, storage } = config();
  if (adminToken) return { token: adminToken, tokenSource: `admin_token in ${file ?? 'the configuration'}` };
  const path = join(storage.dataDir, 'admin-token');
  const token = readToken(path);
  if (token) return { token, tokenSource: path };
  throw new CommandFailure(
    `No admin token: ${path} cannot be read. A server makes it at its first start (npm start). ` +
      'Run this command where the server runs, or give --admin-token-file or LODESTONE_ADMIN_TOKEN.',
  );
}

function readToken(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

/** A server that listens on every address is reached at the loopback address. */
function addressOf({ server: { host, port } }: Config): string {
  if (host === '0.0.0.0' || host === '::') return `http://127.0.0.1:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function normalizedUrl(url: string): string {
  if (!/^https?:\/\/[^/]/.test(url) || !URL.canParse(url)) {
    throw new CommandFailure(`"${url}" is not an address like http://127.0.0.1:8787.`);
  }
  return url.replace(/\/+$/, '');
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

function lazily<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
