/** An HTTP proxy on loopback that logs what it is asked, and leads every tunnel and every request to the place that a test names. */
import { connect, createServer, type Socket } from 'node:net';

export interface ConnectProxy {
  readonly port: number;
  /** The heads of all requests, `CONNECT` and others. */
  readonly heads: string[];
  /** What answers the next CONNECT instead of a tunnel: these bytes, and then the end. */
  refuseNext(bytes: string): void;
  stop(): Promise<void>;
}

/** `tunnelTo` is the port of the server behind every CONNECT, `forwardTo` of the one behind other requests. */
export async function startConnectProxy(tunnelTo: number, forwardTo: number): Promise<ConnectProxy> {
  const heads: string[] = [];
  const refusals: string[] = [];
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    keep(client);
    let seen = Buffer.alloc(0);
    client.on('data', function read(bytes: Buffer) {
      seen = Buffer.concat([seen, bytes]);
      const end = seen.indexOf('\r\n\r\n');
      if (end < 0) return;
      client.off('data', read);
      const head = seen.subarray(0, end).toString('latin1');
      heads.push(head);
      const isTunnel = head.startsWith('CONNECT ');
      const refusal = isTunnel ? refusals.shift() : undefined;
      if (refusal !== undefined) {
        client.end(refusal);
        return;
      }
      const upstream = connect(isTunnel ? tunnelTo : forwardTo, '127.0.0.1');
      keep(upstream);
      if (isTunnel) client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      else upstream.write(seen);
      client.pipe(upstream);
      upstream.pipe(client);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    port,
    heads,
    refuseNext: (bytes) => void refusals.push(bytes),
    stop: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
