/** What each provider's calls show, chosen by its `auth` and its dialect. Chains are asked only when a call needs them. */
import aws4 from 'aws4';
import type { Logger } from '../../base/logger.js';
import type { Clock } from '../../base/time.js';
import type { Dialect, Provider, Route } from '../../catalogue/route.js';
import { type Address, addressOf, requestTarget } from '../transport/upstream-address.js';
import { AwsKeySource, type AwsKeys, type Environment } from './aws-keys.js';
import type { Credentials } from './credentials.js';
import { googleTokens } from './google-tokens.js';
import { type LoadPackage, loadPackage } from './optional-package.js';
import type { Renewed } from './renewed.js';

export interface CredentialPorts {
  readonly clock: Clock;
  readonly env: Environment;
  readonly logger: Logger;
  readonly load?: LoadPackage;
}

export class ProviderCredentials implements Credentials {
  /** Lists that never change, a provider of a snapshot each. */
  private readonly fixed = new WeakMap<Provider, readonly string[]>();
  /** Lists with a token, until it is another one. */
  private readonly tokened = new WeakMap<Provider, { token: readonly string[]; headers: readonly string[] }>();
  private readonly addresses = new Map<string, Address>();
  private readonly aws: AwsKeySource;
  private readonly google: Renewed<readonly string[]>;

  constructor(private readonly ports: CredentialPorts) {
    const { env, clock, load = loadPackage } = ports;
    this.aws = new AwsKeySource(env, clock, load);
    this.google = googleTokens(clock, load);
  }

  headersFor(route: Route, path: string, body: string | Buffer): readonly string[] | Promise<readonly string[]> {
    const { provider } = route;
    const known = this.fixed.get(provider);
    if (known) return known;
    if (provider.auth === 'aws') {
      const keys = this.aws.get();
      if (!(keys instanceof Promise)) return this.signed(route, path, body, keys);
      return this.noted(
        provider,
        keys.then((obtained) => this.signed(route, path, body, obtained)),
      );
    }
    if (provider.auth === 'google') {
      const token = this.google.get();
      if (!(token instanceof Promise)) return this.withToken(provider, token);
      return this.noted(
        provider,
        token.then((obtained) => this.withToken(provider, obtained)),
      );
    }
    const headers = keyHeaders(provider);
    this.fixed.set(provider, headers);
    return headers;
  }

  private signed({ provider, baseUrl }: Route, path: string, body: string | Buffer, keys: AwsKeys): readonly string[] {
    let address = this.addresses.get(baseUrl);
    if (!address) {
      address = addressOf(baseUrl);
      this.addresses.set(baseUrl, address);
    }
    const region = regionOf(address, this.ports.env);
    const signature = signatureHeaders({ address, path, body, region, nowMs: this.ports.clock.now() }, keys);
    return [...plainHeaders(provider.dialect), ...signature];
  }

  private withToken(provider: Provider, token: readonly string[]): readonly string[] {
    const known = this.tokened.get(provider);
    if (known?.token === token) return known.headers;
    const headers = [...plainHeaders(provider.dialect), ...token];
    this.tokened.set(provider, { token, headers });
    return headers;
  }

  /** The operator is told, once an attempt. */
  private noted(provider: Provider, headers: Promise<readonly string[]>): Promise<readonly string[]> {
    headers.catch((error: Error) => {
      this.ports.logger.warn({ provider: provider.id, reason: error.message }, 'no credentials for a provider');
    });
    return headers;
  }
}

// The headers of a call that shows a key, each dialect's own way. Only our own headers go to a provider.

/** What every call has. */
export function plainHeaders(dialect: Dialect): string[] {
  return [
    'content-type',
    'application/json',
    'accept',
    // Converse frames its streams in its own way.
    dialect === 'bedrock' ? '*/*' : 'application/json, text/event-stream',
    'accept-encoding',
    'identity',
    'user-agent',
    'lodestone',
    ...(dialect === 'anthropic' ? ['anthropic-version', '2023-06-01'] : []),
  ];
}

export function keyHeaders({ dialect, apiKey }: Pick<Provider, 'dialect' | 'apiKey'>): string[] {
  return apiKey === null ? plainHeaders(dialect) : [...plainHeaders(dialect), ...keyHeader(dialect, apiKey)];
}

/** Tokens of Entra and of Google, which are shown as bearers where a key is not. */
const entraToken = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/;
const googleToken = /^ya29\./;

function keyHeader(dialect: Dialect, key: string): [name: string, value: string] {
  switch (dialect) {
    case 'anthropic':
      return ['x-api-key', key];
    case 'azure':
      return entraToken.test(key) ? bearer(key) : ['api-key', key];
    case 'gemini':
      // Never in the query, where it would end up in logs (wire 4).
      return googleToken.test(key) ? bearer(key) : ['x-goog-api-key', key];
    default:
      return bearer(key);
  }
}

function bearer(token: string): [name: string, value: string] {
  return ['authorization', `Bearer ${token}`];
}

// A call to Bedrock signed after AWS's Signature Version 4, over the very bytes and the very target that are sent (wire 5).

export interface CallToSign {
  address: Address;
  path: string;
  /** A string is latin1: one character a byte. */
  body: string | Buffer;
  region: string;
  nowMs: number;
}

/** To be sent beside `content-type: application/json`, which is signed too. */
export function signatureHeaders({ address, path, body, region, nowMs }: CallToSign, keys: AwsKeys): string[] {
  const date = new Date(nowMs).toISOString().replace(/[:-]|\.\d{3}/g, '');
  const { headers = {} } = aws4.sign(
    {
      service: 'bedrock',
      region,
      method: 'POST',
      path: requestTarget(address, path),
      body: typeof body === 'string' ? Buffer.from(body, 'latin1') : body,
      headers: { Host: address.host, 'Content-Type': 'application/json', 'X-Amz-Date': date },
    },
    keys,
  );
  const token = keys.sessionToken === undefined ? [] : ['x-amz-security-token', keys.sessionToken];
  return ['x-amz-date', date, ...token, 'authorization', String(headers.Authorization)];
}

/** A label of the host, as in `bedrock-runtime.eu-central-1.amazonaws.com`; of the environment where the host has none. */
export function regionOf({ hostname }: Pick<Address, 'hostname'>, env: Environment): string {
  const label = hostname.split('.').find((each) => /^[a-z]{2,3}(?:-[a-z]+)+-\d{1,2}$/.test(each));
  return label ?? (env.AWS_REGION || env.AWS_DEFAULT_REGION || 'us-east-1');
}
