/**
 * A socket beside a lock that shows that its holder lives. The kernel closes it with the process, however that ends, and
 * containers that share a directory but no pids can connect to it.
 */
import { chmodSync, closeSync, openSync } from 'node:fs';
import { connect, createServer } from 'node:net';

export interface Sign {
  readonly name: string;
  close(): void;
}

/** null where the system or the file system has no such sockets. */
export async function showSign(dir: string, name: string): Promise<Sign | null> {
  if (process.platform !== 'linux') return null;
  const dirFd = openSync(dir, 'r');
  const server = createServer((socket) => socket.destroy());
  const close = () => {
    server.close();
    closeSync(dirFd);
  };
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      // Exclusive: in a cluster's worker the primary process would otherwise listen, and it lives on.
      server.listen({ path: shortPath(dirFd, name), exclusive: true }, resolve);
    });
    chmodSync(shortPath(dirFd, name), 0o600);
  } catch {
    close();
    return null;
  }
  server.on('error', () => {});
  server.unref();
  return { name, close };
}

/** `connected`, or the system's error code. */
export async function answers(dir: string, name: string): Promise<string> {
  const dirFd = openSync(dir, 'r');
  try {
    return await new Promise((resolve) => {
      const socket = connect(shortPath(dirFd, name));
      socket.once('connect', () => {
        socket.destroy();
        resolve('connected');
      });
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'));
    });
  } finally {
    closeSync(dirFd);
  }
}

/** A socket's path holds only about a hundred bytes, and a data directory may be deep. */
const shortPath = (dirFd: number, name: string): string => `/proc/self/fd/${dirFd}/${name}`;
