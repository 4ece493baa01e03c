/** The defaults of contract 2, and the step from the file's fields to the configuration that the rest of the product sees. */
import { resolve } from 'node:path';
import { isLoopbackHost } from '../base/ip-address.js';
import { parseUsd } from '../base/money.js';
import type { Config, ProviderSettings } from './config.js';
import type { ConfigFile } from './config-schema.js';

/** What the environment says over the file. */
export interface Overrides {
  host: string | undefined;
  port: number | undefined;
  databaseUrl: string | undefined;
  redisUrl: string | undefined;
  adminToken: string | undefined;
}

export interface CheckedSettings {
  settings: ConfigFile;
  unconfigured: ReadonlySet<string>;
  overrides: Overrides;
  file: string | null;
  /** What relative paths are relative to. */
  directory: string;
}

const seconds = 1000;
const minutes = 60 * seconds;

export function configOf({ settings, unconfigured, overrides, file, directory }: CheckedSettings): Config {
  const storage = storageOf(settings, overrides, directory);
  const server = serverOf(settings, overrides, directory);
  const { limits, breaker } = settings;
  const isTrial = storage.databaseUrl === null && isReachedFromHereOnly(server);
  return {
    file,
    server,
    storage,
    workers: settings.workers ?? 1,
    // Contract 1: an operator's own database gets no demo account.
    demo: (settings.demo ?? true) && storage.databaseUrl === null,
    registration: settings.registration ?? (isTrial ? 'open' : 'closed'),
    welcomeCreditPico: parseUsd(settings.welcome_credit_usd ?? (isTrial ? '1.00' : '0')) ?? 0n,
    adminToken: overrides.adminToken ?? settings.admin_token ?? null,
    catalogue: (settings.catalogue ?? ['builtin']).map((entry) =>
      entry === 'builtin' ? entry : resolve(directory, entry),
    ),
    limits: {
      ipRequestsPerMinute: limits?.ip_requests_per_minute ?? 1200,
      keyRequestsPerMinute: limits?.key_requests_per_minute ?? 600,
      keyTokensPerMinute: limits?.key_tokens_per_minute ?? 1_000_000,
    },
    timeouts: timeoutsOf(settings),
    breaker: {
      failures: breaker?.failures ?? 5,
      windowMs: breaker?.window ?? 30 * seconds,
      cooldownMs: breaker?.cooldown ?? 30 * seconds,
    },
    territories: { sanctioned: settings.territories?.sanctioned ?? 'builtin' },
    providers: providersOf(settings, unconfigured),
    payments: paymentsOf(settings),
    notices: noticesOf(settings),
  };
}

/**
 * Nobody but the people at this machine reaches the service. Elsewhere strangers could make accounts and spend the operator's
 * money on welcome credit, so there the operator has to ask for both.
 */
function isReachedFromHereOnly({ host, baseUrl, dashboardUrl, trustedProxies }: Config['server']): boolean {
  const addresses = [baseUrl, dashboardUrl].filter((address) => address !== null);
  const hosts = [host, ...addresses.map((address) => new URL(address).hostname)];
  return hosts.every(isLoopbackHost) && trustedProxies.length === 0;
}

/** `load.ts` has refused Stripe without its two secrets. */
function paymentsOf({ payments }: ConfigFile): Config['payments'] {
  const { processor, secret_key: secretKey, webhook_secret: webhookSecret, api_base } = payments ?? {};
  if (processor !== 'stripe' || !secretKey || !webhookSecret) return { processor: 'none' };
  return { processor, secretKey, webhookSecret, apiBase: api_base ?? null };
}

function noticesOf({ notices }: ConfigFile): Config['notices'] {
  const { url, secret } = notices?.webhook ?? {};
  return {
    lowBalancePico: parseUsd(notices?.low_balance_usd ?? '1.00') ?? 0n,
    webhook: url && secret ? { url, secret } : null,
    intervalMs: notices?.interval ?? 30 * seconds,
  };
}

function serverOf({ server }: ConfigFile, overrides: Overrides, directory: string): Config['server'] {
  return {
    host: overrides.host ?? server?.host ?? '127.0.0.1',
    port: overrides.port ?? server?.port ?? 8787,
    baseUrl: server?.base_url ?? null,
    dashboardUrl: server?.dashboard_url ?? null,
    docsUrl: server?.docs_url ?? null,
    trustedProxies: server?.trusted_proxies ?? [],
    clientIpHeader: server?.client_ip_header ?? 'x-forwarded-for',
    countryHeader: server?.country_header ?? null,
    countryDatabase: server?.country_database == null ? null : resolve(directory, server.country_database),
    drainMs: server?.drain ?? 30 * seconds,
    bodyMemoryMaxBytes: server?.body_memory_max ?? 512 * 1024 * 1024,
  };
}

function storageOf({ storage }: ConfigFile, overrides: Overrides, directory: string): Config['storage'] {
  return {
    dataDir: resolve(directory, storage?.data_dir ?? 'data'),
    databaseUrl: overrides.databaseUrl ?? storage?.database_url ?? null,
    redisUrl: overrides.redisUrl ?? storage?.redis_url ?? null,
  };
}

/** Part 8 of the specification. */
function timeoutsOf({ timeouts }: ConfigFile): Config['timeouts'] {
  return {
    firstByteStreamingMs: timeouts?.first_byte_streaming ?? 30 * seconds,
    firstByteStreamingAfterTimeoutMs: timeouts?.first_byte_streaming_after_timeout ?? 15 * seconds,
    firstByteNonStreamingMs: timeouts?.first_byte_non_streaming ?? 2.5 * minutes,
    streamIdleMs: timeouts?.stream_idle ?? 1.5 * minutes,
    overallMs: timeouts?.overall ?? 5 * minutes,
  };
}

/** Without a prototype, so that an id such as `constructor` finds nothing that nobody wrote. */
function providersOf({ providers }: ConfigFile, unconfigured: ReadonlySet<string>): Record<string, ProviderSettings> {
  const result: Record<string, ProviderSettings> = Object.create(null);
  for (const [id, settings] of Object.entries(providers ?? {})) {
    const entry: ProviderSettings = {};
    if (unconfigured.has(id)) entry.apiKey = null;
    else if (settings?.api_key != null) entry.apiKey = settings.api_key;
    if (settings?.base_url != null) entry.baseUrl = settings.base_url;
    result[id] = entry;
  }
  return result;
}
