/** Makes the configuration that the product sees from the values of the file, the environment and the defaults. */
import { resolve } from 'node:path';
import { isLoopbackHost } from '../base/ip-address.js';
import { picoPerUsd } from '../base/money.js';
import type { Config, ProviderSettings } from './config.js';
import type { FileValues } from './config-schema.js';
import { identityProvidersOf } from './identity-providers.js';
import { keysOf, type ProviderValues } from './provider-settings.js';
import type { Settings, ValuesOf } from './setting.js';
import { sections, topLevel } from './settings.js';

interface CheckedSettings {
  values: FileValues;
  /** Providers whose `api_key` names an absent variable. */
  unconfigured: ReadonlySet<string>;
  /** Values of the environment, which win over the file, by the names of their variables. */
  environment: ReadonlyMap<string, unknown>;
  file: string | null;
  /** Relative paths start here. */
  directory: string;
}

export function configOf(checked: CheckedSettings): Config {
  const { values, file, directory } = checked;
  const top = valuesOf(topLevel, values, checked);
  const section = <Name extends keyof typeof sections>(name: Name) =>
    valuesOf(sections[name], (values[name] ?? {}) as FileValues, checked);
  const [server, storage] = [section('server'), section('storage')];
  const isTrial = isOnlyLocal(server);
  return {
    ...top,
    file,
    // An operator's own database gets no demo account.
    demo: top.demo && storage.databaseUrl === null,
    ...(isTrial && values.registration == null && { registration: 'open' }),
    ...(isTrial && values.welcome_credit_usd == null && { welcomeCreditPico: picoPerUsd }),
    catalogue: top.catalogue.map((entry) => (entry === 'builtin' ? entry : resolve(directory, entry))),
    names: top.names.map((file) => resolve(directory, file)),
    workloadIssuers: top.workloadIssuers.map(({ issuer, jwksFile }) => ({
      ...{ issuer, jwksFile: jwksFile === null ? null : resolve(directory, jwksFile) },
    })),
    ...{ server, storage, limits: section('limits'), timeouts: section('timeouts'), breaker: section('breaker') },
    catalogueUpdates: section('catalogue_updates'),
    ...{ journal: section('journal'), compat: section('compat') },
    routing: section('routing'),
    territories: section('territories'),
    providers: providersOf((values.providers ?? {}) as ProviderValues, checked.unconfigured),
    payments: paymentsOf(section('payments')),
    status: section('status'),
    billing: section('billing'),
    notices: noticesOf(section('notices')),
    mail: mailOf(section('mail')),
    signIn: signInOf(section('sign_in')),
    proof: section('proof'),
    secrets: section('secrets'),
    ownKeys: section('own_keys'),
  };
}

function valuesOf<Rows extends Settings>(
  rows: Rows,
  values: FileValues,
  { environment, directory }: CheckedSettings,
): ValuesOf<Rows> {
  const found = Object.entries(rows).map(([key, row]) => {
    const value = environment.get(row.env ?? '') ?? values[key] ?? row.default;
    if (!row.isPath || value === null) return [row.name, value];
    return [
      row.name,
      Array.isArray(value) ? value.map((path) => resolve(directory, path)) : resolve(directory, String(value)),
    ];
  });
  return Object.fromEntries(found);
}

/**
 * True where only people at this machine reach the service. Elsewhere strangers could make accounts and spend the operator's money
 * on welcome credit, so there the operator has to allow both.
 */
function isOnlyLocal({ host, baseUrl, dashboardUrl, trustedProxies }: Config['server']): boolean {
  const addresses = [baseUrl, dashboardUrl].filter((address) => address !== null);
  const hosts = [host, ...addresses.map((address) => new URL(address).hostname)];
  return hosts.every(isLoopbackHost) && trustedProxies.length === 0;
}

/** `loadConfig` has refused Stripe without its two secrets. */
function paymentsOf(payments: ValuesOf<typeof sections.payments>): Config['payments'] {
  const { processor, secretKey, webhookSecret, apiBase } = payments;
  if (processor !== 'stripe' || !secretKey || !webhookSecret) return { processor: 'none' };
  return { processor, secretKey, webhookSecret, apiBase };
}

function noticesOf(notices: ValuesOf<typeof sections.notices>): Config['notices'] {
  const { url, secret } = notices.webhook ?? {};
  return { ...notices, webhook: url && secret ? { url, secret } : null };
}

function signInOf(signIn: ValuesOf<typeof sections.sign_in>): Config['signIn'] {
  return { ...signIn, oidc: identityProvidersOf(signIn.oidc) };
}

/** `loadConfig` has refused one without the other. */
function mailOf({ smtpUrl, from }: ValuesOf<typeof sections.mail>): Config['mail'] {
  return smtpUrl && from ? { smtpUrl, from } : null;
}

/** Without a prototype, so that an id such as `constructor` finds nothing. */
function providersOf(providers: ProviderValues, unconfigured: ReadonlySet<string>): Record<string, ProviderSettings> {
  const result: Record<string, ProviderSettings> = Object.create(null);
  for (const [id, settings] of Object.entries(providers)) {
    const entry: ProviderSettings = {};
    if (settings?.keys) entry.keys = keysOf(settings);
    else if (unconfigured.has(id)) entry.apiKey = null;
    else if (settings?.api_key != null) entry.apiKey = settings.api_key;
    if (settings?.base_url != null) entry.baseUrl = settings.base_url;
    if (settings?.agreement != null) entry.agreement = settings.agreement;
    if (settings?.stored_objects != null) entry.storedObjects = settings.stored_objects;
    result[id] = entry;
  }
  return result;
}
