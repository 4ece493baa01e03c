/**
 * A sign of life beside a lock: a socket that its holder listens on. The kernel takes it away with the process, whatever ends
 * that, and containers that share a directory but no pids can ask it.
 */
import { chmodSync, closeSync, openSync } from 'node:fs';
import { connect, createServer } from 'node:net';

export interface Sign {
  readonly name: string;
  close(): void;
}

/** Null where the system or the file system has no such sockets. */
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
      // Exclusive: in a cluster's worker it would otherwise be the primary that listens, and lives on.
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

/** `connected`, or the system's code of why not. */
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

/** A socket's path has room for some hundred bytes only, and a data directory may be deep. */
const shortPath = (dirFd: number, name: string): string => `/proc/self/fd/${dirFd}/${name}`;
