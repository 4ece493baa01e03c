/** Chooses the headers of upstream calls by a provider's `auth` and dialect. Credential chains run only when a call needs them. */

import aws4 from 'aws4';
import type { Logger } from '../../base/logger.js';
import type { ProviderKey } from '../../base/provider-key.js';
import type { Clock } from '../../base/time.js';
import { andThen, isPending, type MaybePromise } from '../../base/turn.js';
import type { Provider, Route } from '../../catalogue/route.js';
import { type OutgoingBody, outgoingBytes } from '../../wire/outgoing-body.js';
import { dialectOf } from '../dialects/registry.js';
import { type Address, addressOf, requestTarget } from '../transport/upstream-address.js';
import { AwsKeySource, type AwsKeys, type Environment } from './aws-keys.js';
import type { Credentials } from './credentials.js';
import { googleTokens } from './google-tokens.js';
import { type LoadPackage, loadPackage } from './optional-package.js';
import type { RenewableValue } from './renewable.js';

interface CredentialPorts {
  readonly clock: Clock;
  readonly env: Environment;
  readonly logger: Logger;
  readonly load?: LoadPackage;
  /** Of candidates with a customer's own credential; absent where there are none. */
  readonly own?: Credentials;
}

export class ProviderCredentials implements Credentials {
  /** Header lists that never change, by provider of a snapshot. */
  private readonly fixed = new WeakMap<Provider, readonly string[]>();
  /** The same by key, for providers with several. A route may have a dialect of its own. */
  private readonly fixedByKey = new WeakMap<ProviderKey, Map<string, readonly string[]>>();
  /** Header lists with an access token, until the token changes. */
  private readonly withTokens = new WeakMap<Provider, { token: readonly string[]; headers: readonly string[] }>();
  private readonly addresses = new Map<string, Address>();
  private readonly aws: AwsKeySource;
  private readonly google: RenewableValue<readonly string[]>;

  constructor(private readonly ports: CredentialPorts) {
    const { env, clock, load = loadPackage } = ports;
    this.aws = new AwsKeySource(env, clock, load);
    this.google = googleTokens(clock, load);
  }

  headersFor(
    route: Route,
    path: string,
    body: OutgoingBody,
    key: ProviderKey | null = null,
  ): MaybePromise<readonly string[]> {
    if (route.credential !== undefined) return this.ports.own!.headersFor(route, path, body);
    const { provider } = route;
    if (key !== null) return this.headersOfKey(provider.dialect, key);
    const known = this.fixed.get(provider);
    if (known) return known;
    if (provider.auth === 'aws') {
      const keys = this.aws.get();
      return this.logFault(
        provider,
        andThen(keys, (obtained) => this.signedHeaders(route, path, body, obtained)),
      );
    }
    if (provider.auth === 'google') {
      const token = this.google.get();
      return this.logFault(
        provider,
        andThen(token, (obtained) => this.tokenHeaders(provider, obtained)),
      );
    }
    const headers = keyHeaders(provider);
    this.fixed.set(provider, headers);
    return headers;
  }

  private headersOfKey(dialect: string, key: ProviderKey): readonly string[] {
    const byDialect = this.fixedByKey.get(key) ?? new Map<string, readonly string[]>();
    const known = byDialect.get(dialect);
    if (known) return known;
    const headers = keyHeaders({ dialect, apiKey: key.apiKey });
    this.fixedByKey.set(key, byDialect.set(dialect, headers));
    return headers;
  }

  private signedHeaders(
    { provider, baseUrl }: Route,
    path: string,
    body: OutgoingBody,
    keys: AwsKeys,
  ): readonly string[] {
    let address = this.addresses.get(baseUrl);
    if (!address) {
      address = addressOf(baseUrl);
      this.addresses.set(baseUrl, address);
    }
    const region = regionOf(address, this.ports.env);
    const signature = signatureHeaders({ address, path, body, region, nowMs: this.ports.clock.now() }, keys);
    return [...commonHeaders(provider.dialect), ...signature];
  }

  private tokenHeaders(provider: Provider, token: readonly string[]): readonly string[] {
    const known = this.withTokens.get(provider);
    if (known?.token === token) return known.headers;
    const headers = [...commonHeaders(provider.dialect), ...token];
    this.withTokens.set(provider, { token, headers });
    return headers;
  }

  /** Logs, once per attempt, that credentials could not be obtained. */
  private logFault(provider: Provider, headers: MaybePromise<readonly string[]>): MaybePromise<readonly string[]> {
    if (isPending(headers)) {
      headers.catch((error: Error) => {
        this.ports.logger.warn({ provider: provider.id, reason: error.message }, 'no credentials for a provider');
      });
    }
    return headers;
  }
}

/** The headers of every call. Headers of a client are never passed on to a provider. */
export function commonHeaders(dialectName: string): string[] {
  const { accept = 'application/json, text/event-stream', extraHeaders = [] } = dialectOf(dialectName);
  return [
    ...['content-type', 'application/json'],
    ...['accept', accept],
    ...['accept-encoding', 'identity'],
    ...['user-agent', 'lodestone'],
    ...extraHeaders,
  ];
}

export function keyHeaders({ dialect, apiKey }: Pick<Provider, 'dialect' | 'apiKey'>): string[] {
  const headers = commonHeaders(dialect);
  return apiKey === null ? headers : [...headers, ...dialectOf(dialect).keyHeader(apiKey)];
}

interface CallToSign {
  address: Address;
  path: string;
  body: OutgoingBody;
  region: string;
  nowMs: number;
}

/**
 * AWS Signature Version 4 over exactly the bytes and the request target that are sent. It also signs
 * `content-type: application/json`, so that header must be sent.
 */
export function signatureHeaders({ address, path, body, region, nowMs }: CallToSign, keys: AwsKeys): string[] {
  const date = new Date(nowMs).toISOString().replace(/[:-]|\.\d{3}/g, '');
  const { headers = {} } = aws4.sign(
    {
      service: 'bedrock',
      region,
      method: 'POST',
      path: requestTarget(address, path),
      body: outgoingBytes(body),
      headers: { Host: address.host, 'Content-Type': 'application/json', 'X-Amz-Date': date },
    },
    keys,
  );
  const token = keys.sessionToken === undefined ? [] : ['x-amz-security-token', keys.sessionToken];
  return ['x-amz-date', date, ...token, 'authorization', String(headers.Authorization)];
}

/** The region in the host, as in `bedrock-runtime.eu-central-1.amazonaws.com`, else the region of the environment. */
export function regionOf({ hostname }: Pick<Address, 'hostname'>, env: Environment): string {
  const label = hostname.split('.').find((each) => /^[a-z]{2,3}(?:-[a-z]+)+-\d{1,2}$/.test(each));
  return label ?? (env.AWS_REGION || env.AWS_DEFAULT_REGION || 'us-east-1');
}
