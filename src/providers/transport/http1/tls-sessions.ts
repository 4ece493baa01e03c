/** Opens TLS sockets, each of which resumes the session of an earlier one with the same server. */
import { isIP, type Socket } from 'node:net';
import { connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';

interface Server {
  readonly host: string;
  readonly port: number;
}

interface KeptSession {
  readonly bytes: Buffer;
  /** When the server's certificate was checked: a handshake that resumes a session does not check it again. */
  readonly checkedAtMs: number;
}

const serversMax = 256;
/** After this time a certificate is checked again, also where each session came from the one before. */
const checkedMsMax = 60 * 60_000;

export class TlsSessions {
  /** The newest of each server, by host and port. Any number of connections may use it: requests name their sender anyway. */
  private readonly kept = new Map<string, KeptSession>();

  /**
   * `context` holds what is trusted; by default it is made for the first connection, with what Node trusts. There is one for all, so a
   * session never meets other trust than it was made with. A new one takes 0.5 ms.
   */
  constructor(
    private readonly nowMs: () => number,
    private context: SecureContext | null = null,
  ) {}

  /** `tunnel` is a socket on which the server is already reached. */
  open({ host, port }: Server, tunnel?: Socket): TLSSocket {
    const name = `${host}:${port}`;
    const openedAtMs = this.nowMs();
    const resumed = this.sessionOf(name, openedAtMs);
    this.context ??= createSecureContext();
    const socket = connect({
      ...(tunnel && { socket: tunnel }),
      // Beside a tunnel, they only say whose certificate is expected.
      ...{ host, port, servername: isIP(host) ? '' : host },
      ...(resumed && { session: resumed.bytes }),
      ALPNProtocols: ['http/1.1'],
      secureContext: this.context,
    });
    let isOpen = false;
    socket.once('secureConnect', () => {
      isOpen = true;
    });
    socket.on('session', (bytes) => {
      // Where NODE_TLS_REJECT_UNAUTHORIZED lets a wrong certificate pass: a handshake that resumes the session would not check it either.
      if (!socket.authorized) return;
      const checkedAtMs = resumed && socket.isSessionReused() ? resumed.checkedAtMs : openedAtMs;
      this.keep(name, { bytes, checkedAtMs });
    });
    // A server that breaks off at a session is not offered it again.
    socket.once('close', () => {
      if (!isOpen && resumed && this.kept.get(name) === resumed) this.kept.delete(name);
    });
    return socket;
  }

  private sessionOf(name: string, now: number): KeptSession | null {
    const session = this.kept.get(name);
    return session && now - session.checkedAtMs < checkedMsMax ? session : null;
  }

  private keep(name: string, session: KeptSession): void {
    this.kept.delete(name);
    this.kept.set(name, session);
    // The first one is that which was kept longest ago.
    if (this.kept.size > serversMax) this.kept.delete(this.kept.keys().next().value!);
  }
}
