/**
 * One identity provider: where its endpoints are, the way there and back, and the checks of its tokens. openid-client does the protocol
 * and checks claims, jose checks signatures. What openid-client leaves to its callers is checked here: that the issuer is exactly the
 * configured one, `azp` beside a single audience, and that a token was not issued before its sign-in began, nor in the future.
 */
import type { Configuration, CustomFetch, ServerMetadata, TokenEndpointResponse } from 'openid-client';
import { isLoopbackHost } from '../../../base/ip-address.js';
import { SharedRead } from '../../../base/shared-read.js';
import type { Clock } from '../../../base/time.js';
import type { IdentityProvider } from '../../../config/identity-providers.js';
import { clockText, faultOf, ProviderCallFailed, quoted, SignInFault } from './faults.js';
import type { ProviderFetch } from './fetch-port.js';
import type { Flow } from './flow-cookie.js';
import { type LogoutClaims, leewaySeconds, logoutClaimsOf } from './logout-claims.js';
import { Allowance, type Keys, type KeyUse, ProviderKeys } from './provider-keys.js';
import { type Claims, claimsOf, needsUserInfo, type RawClaims } from './read-claims.js';

const badAlgorithm = 'The token is not signed, or in a way that is not accepted.';
const discoveryKeptMs = 10 * 60_000;

/** Signatures that only who has the private key can make. What a provider offers beside these is not accepted. */
const signatures = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

export interface ProviderDeps {
  readonly fetch: ProviderFetch;
  readonly clock: Clock;
}

interface Discovery {
  readonly metadata: ServerMetadata;
  readonly readAtMs: number;
}

export class Provider {
  private discovery: Discovery | null = null;
  private readonly reads = new SharedRead(() => this.discover());
  private readonly looks: Allowance;
  private readonly keys: ProviderKeys;
  private readonly fetch: ProviderFetch;

  constructor(
    readonly settings: IdentityProvider,
    private readonly deps: ProviderDeps,
  ) {
    const isLocal = settings.issuer.startsWith('http:');
    this.fetch = async (url, request) => {
      checkAddress(url, isLocal);
      return deps.fetch(url, request);
    };
    this.looks = new Allowance(deps.clock, 100, 200);
    const address = async () => {
      const { jwks_uri } = await this.metadata();
      if (typeof jwks_uri !== 'string')
        throw new SignInFault('provider_answer', 'Its discovery document names no keys.');
      return jwks_uri;
    };
    this.keys = new ProviderKeys({ fetch: this.fetch, clock: deps.clock, address });
  }

  /** Where the browser goes to sign in. Reads the discovery document again, so that nobody is sent to a provider that is away. */
  beginAt(flow: Flow): Promise<string> {
    return named(async () => {
      const client = await import('openid-client');
      const config = await this.configuration(await this.metadata(this.looks.take()));
      const { scopes, acrValues } = this.settings;
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: flow.redirectUri,
        scope: scopes.join(' '),
        ...{ state: flow.state, nonce: flow.nonce, code_challenge_method: 'S256' },
        code_challenge: await client.calculatePKCECodeChallenge(flow.verifier),
        ...(acrValues.length > 0 && { acr_values: acrValues.join(' ') }),
      });
      checkAddress(url.href, this.settings.issuer.startsWith('http:'));
      return url.href;
    });
  }

  /** Who has come back with this query. */
  finish(flow: Flow, query: string): Promise<Claims> {
    return named(async () => {
      const client = await import('openid-client');
      const metadata = await this.metadata();
      const config = await this.configuration(metadata);
      const url = new URL(flow.redirectUri);
      url.search = query;
      const tokens = await client.authorizationCodeGrant(config, url, {
        ...{ pkceCodeVerifier: flow.verifier, expectedState: flow.state, expectedNonce: flow.nonce },
        idTokenExpected: true,
      });
      const token = tokens.claims() as RawClaims;
      await this.verify(tokens.id_token!, 'sign-in');
      this.checkToken(token, flow);
      const info = needsUserInfo(token, this.settings) ? await this.userInfo(config, metadata, tokens, token.sub) : {};
      return claimsOf(token, info, this.settings);
    });
  }

  /** Whose sessions a logout token ends. */
  logout(token: string): Promise<LogoutClaims> {
    return named(async () => {
      const { issuer } = await this.metadata();
      const payload = await this.verify(token, 'logout');
      return logoutClaimsOf(payload, { issuer, clientId: this.settings.clientId, nowSeconds: this.nowSeconds() });
    });
  }

  private nowSeconds(): number {
    return Math.floor(this.deps.clock.now() / 1000);
  }

  private checkToken({ azp, iat }: RawClaims, { beganAt }: Flow): void {
    const { clientId } = this.settings;
    if (azp !== undefined && azp !== clientId)
      throw new SignInFault('wrong_audience', `The token has azp ${quoted(azp)}, expected ${quoted(clientId)}.`);
    const now = this.nowSeconds();
    const isInTime =
      typeof iat === 'number' && iat <= now + leewaySeconds && iat >= Math.floor(beganAt / 1000) - leewaySeconds;
    if (!isInTime) throw new SignInFault('wrong_clock', clockText('iat', iat, now));
  }

  private async userInfo(
    config: Configuration,
    { userinfo_endpoint }: ServerMetadata,
    { access_token }: TokenEndpointResponse,
    subject: unknown,
  ): Promise<RawClaims> {
    if (userinfo_endpoint === undefined) return {};
    const { fetchUserInfo } = await import('openid-client');
    return (await fetchUserInfo(config, access_token, String(subject))) as RawClaims;
  }

  /** The payload of a token that the provider has signed. */
  private async verify(token: string, use: KeyUse): Promise<Uint8Array> {
    const algorithms = await this.signatures();
    const keys = await this.keys.current();
    const verify = ({ find }: Keys) =>
      verifySignature(token, find, algorithms).catch((error: unknown) => {
        throw signatureFault(error);
      });
    return verify(keys).catch(async (fault: SignInFault) => {
      const newer = fault.reason === badAlgorithm ? null : await this.keys.newerThan(keys, use);
      if (newer === null) throw fault;
      return verify(newer);
    });
  }

  private async signatures(): Promise<string[]> {
    const { id_token_signing_alg_values_supported: offered = ['RS256'] } = await this.metadata();
    return signatures.filter((name) => Array.isArray(offered) && offered.includes(name));
  }

  private async configuration(metadata: ServerMetadata): Promise<Configuration> {
    const client = await import('openid-client');
    const { clientId, clientSecret } = this.settings;
    const skew = Math.round((this.deps.clock.now() - Date.now()) / 1000);
    const times = { [client.clockSkew]: skew, [client.clockTolerance]: leewaySeconds };
    const auth = authentication(client, metadata, clientSecret);
    const config = new client.Configuration(metadata, clientId, times, auth);
    config[client.customFetch] = this.fetch as CustomFetch;
    if (this.settings.issuer.startsWith('http:')) client.allowInsecureRequests(config);
    return config;
  }

  private async metadata(again = false): Promise<ServerMetadata> {
    const { discovery } = this;
    const isFresh = discovery !== null && this.deps.clock.monotonicMs() < discovery.readAtMs + discoveryKeptMs;
    return isFresh && !again ? discovery.metadata : (await this.reads.join()).metadata;
  }

  private async discover(): Promise<Discovery> {
    const client = await import('openid-client');
    const { issuer, clientId } = this.settings;
    const readAtMs = this.deps.clock.monotonicMs();
    const execute = issuer.startsWith('http:') ? [client.allowInsecureRequests] : [];
    const options = { execute, [client.customFetch]: this.fetch as CustomFetch };
    const config = await client.discovery(new URL(issuer), clientId, undefined, client.None(), options);
    const metadata = config.serverMetadata();
    // The library takes a template of Entra's, which every tenant would fit.
    if (metadata.issuer.replace(/\/$/, '') !== issuer.replace(/\/$/, ''))
      throw new SignInFault('wrong_issuer', `Its discovery document names ${quoted(metadata.issuer)}.`);
    this.discovery = { metadata: { ...metadata }, readAtMs };
    return this.discovery;
  }
}

/** `client_secret_basic` first, as every provider must offer it where it says nothing. */
function authentication(client: typeof import('openid-client'), metadata: ServerMetadata, secret: string | null) {
  if (secret === null) return client.None();
  const { token_endpoint_auth_methods_supported: offered = ['client_secret_basic'] } = metadata;
  if (offered.includes('client_secret_basic')) return client.ClientSecretBasic(secret);
  if (offered.includes('client_secret_post')) return client.ClientSecretPost(secret);
  throw new SignInFault(
    'provider_answer',
    `It offers ${quoted(offered.join(', '))}, but no sign-in of clients by their secret.`,
  );
}

/** https, and http from a provider on this machine to this machine. */
function checkAddress(url: string, isLocal: boolean): void {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed?.protocol === 'https:') return;
  if (isLocal && parsed?.protocol === 'http:' && isLoopbackHost(parsed.hostname)) return;
  throw new SignInFault('provider_answer', `It names the address ${quoted(url)}, expected https.`);
}

async function verifySignature(
  token: string,
  find: Parameters<typeof import('jose').compactVerify>[1],
  algorithms: string[],
) {
  const { compactVerify, errors } = await import('jose');
  try {
    return (await compactVerify(token, find as never, { algorithms })).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      const verified = await compactVerify(token, key, { algorithms }).catch(() => null);
      if (verified) return verified.payload;
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

function signatureFault(error: unknown): SignInFault {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (code === 'ERR_JWKS_NO_MATCHING_KEY') return new SignInFault('unknown_key');
  if (code === 'ERR_JOSE_ALG_NOT_ALLOWED') return new SignInFault('bad_signature', badAlgorithm);
  return new SignInFault('bad_signature', `The signature is not accepted: ${String(message)}.`);
}

/** Throws only sign-in faults, and errors that are no answer of the provider. */
async function named<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProviderCallFailed) throw new SignInFault('provider_unavailable', error.message);
    throw faultOf(error);
  }
}
