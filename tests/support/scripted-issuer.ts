/** An issuer of tokens on a loopback address, which can change its keys, lie, redirect and go away. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose';
import { freePort } from './free-port.js';

interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];
  readonly jwk: JWK;
}

export interface ScriptedIssuer {
  /** Its `iss`, and where its configuration is found. */
  readonly url: string;
  /** The paths that were asked for. */
  readonly calls: string[];
  /** What the configuration says otherwise than usual. */
  configuration: Record<string, unknown>;
  /** Answers instead of the issuer; undefined leaves the answer to it. */
  intercept: ((req: IncomingMessage, res: ServerResponse) => true | undefined) | null;
  readonly keys: SigningKey[];
  keySet(): { keys: JWK[] };
  /** From now on it signs with another key, and knows the old one no more. */
  rotate(alg?: string): Promise<void>;
  sign(claims: JWTPayload, header?: Partial<JWTHeaderParameters>): Promise<string>;
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  stop(): Promise<void>;
}

let keyCount = 0;

export async function newSigningKey(alg = 'RS256'): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const kid = `key-${++keyCount}`;
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

export async function startIssuer(alg = 'RS256'): Promise<ScriptedIssuer> {
  const keys = [await newSigningKey(alg)];
  const calls: string[] = [];
  const answer = (req: IncomingMessage, res: ServerResponse): void => {
    calls.push(req.url ?? '');
    if (issuer.intercept?.(req, res)) return;
    const configuration = { issuer: issuer.url, jwks_uri: `${issuer.url}/keys`, ...issuer.configuration };
    const body =
      req.url === '/.well-known/openid-configuration'
        ? configuration
        : req.url === '/keys'
          ? issuer.keySet()
          : undefined;
    res.writeHead(body ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? {}));
  };
  let server = createServer(answer);
  const port = await freePort();
  const listen = () => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  await listen();
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const issuer: ScriptedIssuer = {
    ...{ url: `http://127.0.0.1:${port}`, calls, configuration: {}, intercept: null, keys },
    keySet: () => ({ keys: keys.map(({ jwk }) => jwk) }),
    async rotate(next = alg) {
      keys.splice(0, keys.length, await newSigningKey(next));
    },
    sign: (claims, header) => signWith(keys[0]!, claims, header),
    goAway: close,
    async comeBack() {
      server = createServer(answer);
      await listen();
    },
    stop: close,
  };
  return issuer;
}

export function signWith(
  key: SigningKey,
  claims: JWTPayload,
  header: Partial<JWTHeaderParameters> = {},
): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'JWT', ...header })
    .sign(key.privateKey);
}
