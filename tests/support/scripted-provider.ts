/** An identity provider that says what a test wants, true or not, and logs who called it. Only for loopback. */
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import type { Json } from './client.js';
import { freePort } from './free-port.js';

const clientSecret = 'a-client-secret-of-no-value';

interface SigningKey {
  kid: string;
  key: Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];
  publicJwk: JWK;
}

/** What one sign-in gets. */
export interface Said {
  /** Over the claims that a truthful provider would send; undefined leaves one out. */
  claims?: Json;
  /** Over the header of the id token. */
  header?: Json;
  /** In the place of the id token. */
  idToken?: string;
  userinfo?: Json;
  /** Over the query of the way back; undefined leaves a parameter out. */
  query?: Record<string, string | undefined>;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export class ScriptedProvider {
  readonly clientId = 'lodestone';
  /** Milliseconds. */
  now = () => Date.now();
  /** Paths in the order in which they were called. */
  calls: string[] = [];
  /** Over the discovery document; undefined leaves a field out. */
  discovery: Json = {};
  /** Paths that are answered by the test. */
  readonly answers = new Map<string, Answer>();
  signing!: SigningKey;
  published: JWK[] = [];
  private readonly codes = new Map<string, { said: Said; authorize: URLSearchParams; used: boolean }>();
  private readonly userinfo = new Map<string, Json>();
  private readonly server = createServer((request, response) => void this.answer(request, response));

  async start(port?: number): Promise<this> {
    if (!this.signing) await this.rotate();
    const chosen = port ?? (await freePort());
    await new Promise<void>((resolve) => this.server.listen(chosen, '127.0.0.1', resolve));
    return this;
  }

  stop(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get issuer(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  reset(): void {
    this.calls = [];
    this.discovery = {};
    this.answers.clear();
  }

  /** Signs with a new key from now on, and publishes it alone. */
  async rotate(kid = randomBytes(4).toString('hex')): Promise<void> {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    const publicJwk = { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' };
    this.signing = { kid, key: privateKey, publicJwk };
    this.published = [publicJwk];
  }

  /** The settings of this provider for a gateway. */
  settings(more: Json = {}): Json {
    const client = { client_id: this.clientId, client_secret: clientSecret };
    return { id: 'corp', name: 'Example Corp', issuer: this.issuer, ...client, domains: ['example.com'], ...more };
  }

  /** Signs in at the address that the gateway leads to: the query of the way back. */
  back(location: string, said: Said): string {
    const authorize = new URL(location).searchParams;
    const code = randomBytes(8).toString('hex');
    this.codes.set(code, { said, authorize, used: false });
    const query = { code, state: authorize.get('state')!, iss: this.issuer, ...said.query };
    return new URLSearchParams(
      Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined),
    ).toString();
  }

  async sign(claims: Json, header: Json = {}, { kid, key }: SigningKey = this.signing): Promise<string> {
    return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid, ...header }).sign(key);
  }

  /** A logout token as a truthful provider makes it. */
  logoutToken(more: Json, header: Json = {}): Promise<string> {
    const now = Math.floor(this.now() / 1000);
    const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
    const claims = {
      iss: this.issuer,
      aud: this.clientId,
      iat: now,
      exp: now + 120,
      jti: randomBytes(8).toString('hex'),
      events,
    };
    return this.sign(defined({ ...claims, ...more }), { typ: 'logout+jwt', ...header });
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url!.split('?')[0]!;
    this.calls.push(path);
    const chosen = this.answers.get(path);
    if (chosen) return chosen(request, response);
    const send = (status: number, body: unknown) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (path === '/.well-known/openid-configuration')
      return send(200, defined({ ...this.document(), ...this.discovery }));
    if (path === '/keys') return send(200, { keys: this.published });
    if (path === '/token') {
      const { status, body } = await this.token(await textOf(request), request.headers.authorization);
      return send(status, body);
    }
    const info = this.userinfo.get(request.headers.authorization ?? '');
    return path === '/userinfo' && info ? send(200, info) : send(404, { error: 'not_found' });
  }

  private document(): Json {
    const at = (path: string) => `${this.issuer}${path}`;
    return {
      issuer: this.issuer,
      authorization_endpoint: at('/authorize'),
      token_endpoint: at('/token'),
      jwks_uri: at('/keys'),
      userinfo_endpoint: at('/userinfo'),
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
      authorization_response_iss_parameter_supported: true,
      code_challenge_methods_supported: ['S256'],
    };
  }

  private async token(text: string, authorization: string | undefined): Promise<{ status: number; body: Json }> {
    const form = new URLSearchParams(text);
    const expected = `Basic ${Buffer.from(`${this.clientId}:${clientSecret}`).toString('base64')}`;
    // Both are sent form-encoded, which may differ in what is escaped.
    const shown = decodeURIComponent(Buffer.from((authorization ?? '').slice(6), 'base64').toString());
    if (`Basic ${Buffer.from(shown).toString('base64')}` !== expected)
      return { status: 401, body: { error: 'invalid_client' } };
    const code = this.codes.get(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isRight =
      code?.authorize.get('code_challenge') === challenge &&
      code.authorize.get('redirect_uri') === form.get('redirect_uri');
    if (!code || code.used || !isRight) return { status: 400, body: { error: 'invalid_grant' } };
    code.used = true;
    const { said, authorize } = code;
    const now = Math.floor(this.now() / 1000);
    const times = { iat: now, exp: now + 300 };
    const claims = { iss: this.issuer, aud: this.clientId, sub: 'somebody', nonce: authorize.get('nonce'), ...times };
    const id_token =
      said.idToken ?? (await this.sign(defined({ ...claims, email_verified: true, ...said.claims }), said.header));
    const access_token = randomBytes(8).toString('hex');
    const info = { sub: said.claims?.sub ?? 'somebody', ...said.userinfo };
    this.userinfo.set(`Bearer ${access_token}`, info);
    return { status: 200, body: { access_token, token_type: 'Bearer', expires_in: 300, id_token } };
  }
}

function defined(fields: Json): Json {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}
