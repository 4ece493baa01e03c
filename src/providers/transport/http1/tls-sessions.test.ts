import { type AddressInfo, connect } from 'node:net';
import { createSecureContext, createServer, type SecureVersion, type Server, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { selfSigned } from '../../../../tests/support/self-signed.js';
import { TlsSessions } from './tls-sessions.js';

const { key, cert } = selfSigned(['acme.test', 'other.test']);
const trusted = createSecureContext({ ca: cert });

describe.each<SecureVersion>(['TLSv1.2', 'TLSv1.3'])('a session of %s', (version) => {
  let server: Server;
  let sessions: TlsSessions;
  let now: number;
  let opened: TLSSocket[];
  beforeEach(async () => {
    now = 0;
    opened = [];
    sessions = new TlsSessions(() => now, trusted);
    server = createServer({ key, cert, maxVersion: version }, (socket) => {
      socket.on('error', () => {}).on('data', (bytes) => socket.write(bytes));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => {
    for (const socket of opened) socket.destroy();
    server.close();
  });

  /** Whether the handshake resumed a session; rejects where the certificate is not accepted. */
  function isResumed(host = 'acme.test', port = 443): Promise<boolean> {
    const socket = sessions.open({ host, port }, connect((server.address() as AddressInfo).port, '127.0.0.1'));
    opened.push(socket);
    socket.write('x');
    return new Promise((resolve, reject) => {
      socket.once('data', () => resolve(socket.isSessionReused())).once('error', reject);
    });
  }
  const kept = () => (sessions as unknown as { kept: Map<string, { bytes: Buffer }> }).kept;

  it('is resumed by later connections to the same host and port, and by no other', async () => {
    expect([await isResumed(), await isResumed(), await isResumed()]).toEqual([false, true, true]);
    expect([await isResumed('other.test'), await isResumed('acme.test', 8443)]).toEqual([false, false]);
  });

  it('is not kept where the certificate is wrong, also while that is allowed, so that it is checked every time', async () => {
    const wrongName = { code: 'ERR_TLS_CERT_ALTNAME_INVALID' };
    for (const host of ['wrong.test', '203.0.113.9'])
      await expect(isResumed(host)).rejects.toMatchObject({ ...wrongName, host });
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    expect(await isResumed('wrong.test')).toBe(false);
    vi.unstubAllEnvs();
    await expect(isResumed('wrong.test')).rejects.toMatchObject(wrongName);
    expect(kept().size).toBe(0);
  });

  it('is resumed for an hour after the certificate was checked, also where later ones came from it', async () => {
    const results: boolean[] = [];
    for (const ms of [0, 1_800_000, 1_799_999, 1]) {
      now += ms;
      results.push(await isResumed());
      // As of a server that gives a new ticket to a connection that resumes.
      opened.at(-1)!.emit('session', kept().get('acme.test:443')!.bytes);
    }
    expect(results).toEqual([false, true, true, false]);
  });

  it('is the only one of its server, and one of 256 servers', async () => {
    await Promise.all([isResumed(), isResumed()]);
    expect([...kept().keys()]).toEqual(['acme.test:443']);
    const { keep } = sessions as unknown as { keep(name: string, session: object): void };
    for (let i = 0; i < 300; i++) keep.call(sessions, `server-${i}.test:443`, {});
    expect([kept().size, kept().has('server-44.test:443')]).toEqual([256, true]);
    expect(kept().has('acme.test:443')).toBe(false);
  });

  it('at which a server breaks off is not offered again', async () => {
    await isResumed();
    const { port } = server.address() as AddressInfo;
    const socket = sessions.open({ host: 'acme.test', port: 443 }, connect(port, '127.0.0.1'));
    socket.on('error', () => {}).destroy();
    await new Promise((resolve) => socket.once('close', resolve));
    expect(await isResumed()).toBe(false);
  });
});
