/** Sends many requests at once cheaply: a hundred connections, each with its share of the requests in one write. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { requestBytes } from '../../support/raw-http.js';

export interface BurstReply {
  status: number;
  /** Head and body as they came. */
  text: string;
}

const connectionsMax = 100;

export class Burst {
  private constructor(private readonly sockets: readonly Socket[]) {}

  static async open(url: string): Promise<Burst> {
    const { hostname, port } = new URL(url);
    const sockets = Array.from({ length: connectionsMax }, () => connect({ host: hostname, port: Number(port) }));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    return new Burst(sockets);
  }

  /** All replies, in no order that means anything. */
  async send(requests: readonly Buffer[]): Promise<BurstReply[]> {
    const shares = this.sockets.map((_, at) => requests.filter((__, i) => i % connectionsMax === at));
    const replies = await Promise.all(shares.map((share, at) => sendOn(this.sockets[at]!, share)));
    return replies.flat();
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
  }
}

function sendOn(socket: Socket, share: readonly Buffer[]): Promise<BurstReply[]> {
  if (share.length === 0) return Promise.resolve([]);
  return new Promise((resolve, reject) => {
    let received = '';
    const onData = (bytes: Buffer) => {
      received += bytes.toString('latin1');
      const replies = repliesIn(received);
      if (replies.length === share.length) settle(() => resolve(replies));
    };
    const onClose = () => settle(() => reject(new Error(`the connection closed after ${received.slice(-500)}`)));
    const settle = (then: () => void) => {
      socket.off('data', onData).off('close', onClose);
      then();
    };
    socket.on('data', onData).on('close', onClose);
    socket.write(Buffer.concat(share));
  });
}

/** The replies that came whole. */
function repliesIn(text: string): BurstReply[] {
  const texts = text.split(/(?=HTTP\/1\.1 \d{3} )/).filter((reply) => reply !== '');
  const replies = texts.map((reply) => ({ status: Number(reply.slice(9, 12)), text: reply }));
  const last = texts.at(-1) ?? '';
  const length = Number(/content-length: (\d+)/i.exec(last)?.[1] ?? 0);
  const isWhole = last.includes('\r\n\r\n') && last.length >= last.indexOf('\r\n\r\n') + 4 + length;
  return isWhole ? replies : replies.slice(0, -1);
}

/** A request with or without a key and a JSON body. */
export function burstRequest(
  method: string,
  path: string,
  { key, body, headers }: { key?: string; body?: unknown; headers?: Record<string, string> } = {},
): Buffer {
  const fields = {
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    ...headers,
  };
  return requestBytes(method, path, fields, body === undefined ? '' : JSON.stringify(body));
}
