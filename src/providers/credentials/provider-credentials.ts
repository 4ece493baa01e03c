/** What each provider's calls show, chosen by its `auth` and its dialect. Chains are asked only when a call needs them. */
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { Provider, Route } from '../../catalogue/route.js';
import { type Address, addressOf } from '../transport/upstream-address.js';
import { AwsKeySource, type AwsKeys, type Environment } from './aws-keys.js';
import { regionOf, signatureHeaders } from './aws-signature.js';
import type { Credentials } from './credentials.js';
import { googleTokens } from './google-tokens.js';
import { keyHeaders, plainHeaders } from './key-headers.js';
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
