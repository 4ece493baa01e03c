/** The headers of calls with a customer's own credential. What is made of a secret is forgotten with it. */

import type { Clock } from '../../base/time.js';
import { isPending, type MaybePromise } from '../../base/turn.js';
import type { Route } from '../../catalogue/route.js';
import { type Secret, SecretUnavailable } from '../../domain/credential.js';
import type { OutgoingBody } from '../../wire/outgoing-body.js';
import { addressOf } from '../transport/upstream-address.js';
import type { AwsKeys, Environment } from './aws-keys.js';
import { CredentialFault, type Credentials } from './credentials.js';
import { serviceAccountTokens } from './google-tokens.js';
import type { LoadPackage } from './optional-package.js';
import { commonHeaders, keyHeaders, regionOf, signatureHeaders } from './provider-credentials.js';
import type { RenewableValue } from './renewable.js';

/** Where the secrets of candidates are. */
export interface OwnSecrets {
  /** Throws SecretUnavailable where it cannot be opened at once. */
  secretOf(route: Route): Secret;
  /** Rejects with SecretUnavailable. */
  reopen(route: Route): Promise<Secret>;
}

interface OwnHeadersPorts {
  readonly secrets: OwnSecrets;
  readonly clock: Clock;
  readonly env: Environment;
  readonly load: LoadPackage;
}

export class OwnHeaders implements Credentials {
  /** Of secrets with a key, for the dialect that was called last: mostly there is one. */
  private readonly fixed = new WeakMap<Secret, { readonly dialect: string; readonly headers: readonly string[] }>();
  private readonly tokens = new WeakMap<Secret, RenewableValue<readonly string[]>>();

  constructor(private readonly ports: OwnHeadersPorts) {}

  headersFor(route: Route, path: string, body: OutgoingBody): MaybePromise<readonly string[]> {
    let secret: Secret;
    try {
      secret = this.ports.secrets.secretOf(route);
    } catch (error) {
      if (!(error instanceof SecretUnavailable)) throw error;
      return this.reopened(route, path, body);
    }
    return this.headersOf(secret, route, path, body);
  }

  private async reopened(route: Route, path: string, body: OutgoingBody): Promise<readonly string[]> {
    try {
      return await this.headersOf(await this.ports.secrets.reopen(route), route, path, body);
    } catch (error) {
      throw error instanceof SecretUnavailable ? new CredentialFault(error.message) : error;
    }
  }

  private headersOf(secret: Secret, route: Route, path: string, body: OutgoingBody): MaybePromise<readonly string[]> {
    const { dialect } = route.provider;
    if (secret.service_account) return this.tokenHeaders(secret, dialect);
    if (secret.access_key_id !== undefined) return this.signed(secret, route, path, body);
    const known = this.fixed.get(secret);
    if (known?.dialect === dialect) return known.headers;
    const headers = keyHeaders({ dialect, apiKey: secret.api_key ?? null });
    this.fixed.set(secret, { dialect, headers });
    return headers;
  }

  private signed(secret: Secret, { provider, baseUrl }: Route, path: string, body: OutgoingBody): readonly string[] {
    const { access_key_id = '', secret_access_key = '', session_token } = secret;
    const keys: AwsKeys = {
      ...{ accessKeyId: access_key_id, secretAccessKey: secret_access_key },
      ...(session_token !== undefined && { sessionToken: session_token }),
    };
    const address = addressOf(baseUrl);
    const region = regionOf(address, this.ports.env);
    const signature = signatureHeaders({ address, path, body, region, nowMs: this.ports.clock.now() }, keys);
    return [...commonHeaders(provider.dialect), ...signature];
  }

  private tokenHeaders(secret: Secret, dialect: string): MaybePromise<readonly string[]> {
    let tokens = this.tokens.get(secret);
    if (tokens === undefined) {
      tokens = serviceAccountTokens(this.ports.clock, this.ports.load, secret.service_account!);
      this.tokens.set(secret, tokens);
    }
    const token = tokens.get();
    const withToken = (obtained: readonly string[]) => [...commonHeaders(dialect), ...obtained];
    return isPending(token) ? token.then(withToken) : withToken(token);
  }
}
