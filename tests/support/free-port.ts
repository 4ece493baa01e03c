/** Ports to give to a server by number. Nobody else gets them, neither before the server has started nor while it restarts. */
import { createServer, type Server } from 'node:net';

// Below what Linux (from 32768) and macOS (from 49152) choose from for connections and for `listen(0)`.
const first = 12_000;
const pairs = 10_000;
const triesMax = 1_000;

/**
 * A port of 127.0.0.1 on which nobody listens. This process keeps the port after it until it ends, and whoever else asks here, in whatever
 * process, finds the pair taken.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < triesMax; tries++) {
    const port = first + 2 * Math.floor(Math.random() * pairs);
    const guard = await listenerOn(port + 1);
    if (!guard) continue;
    const listener = await listenerOn(port);
    if (listener) {
      await closed(listener);
      guard.unref();
      return port;
    }
    await closed(guard);
  }
  throw new Error(`None of ${triesMax} ports from ${first} to ${first + 2 * pairs} is free.`);
}

function listenerOn(port: number): Promise<Server | null> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', () => resolve(null));
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}

const closed = (server: Server) => new Promise((resolve) => server.close(resolve));
