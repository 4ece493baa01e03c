/** A line between a gateway and its PostgreSQL that a test can slow down, freeze or cut, on a unix socket of its own. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface StoreProxy {
  /** The address of the same database through the proxy. */
  databaseUrl: string;
  /**
   * `open` passes bytes on; `frozen` takes connections and holds every byte; `cut` drops what there is and closes what comes; `gone` drops
   * what there is, and nobody is at the address, as after the end of a server.
   */
  set(state: State): void;
  /** Bytes towards the server wait this long. */
  delayMs: number;
  close(): void;
}

type State = 'open' | 'frozen' | 'cut' | 'gone';

export async function startStoreProxy(databaseUrl: string): Promise<StoreProxy> {
  const target = new URL(databaseUrl.replace('@/', '@unix/'));
  const socketPath = join(target.searchParams.get('host')!, `.s.PGSQL.${target.searchParams.get('port')}`);
  const folder = mkdtempSync(join(tmpdir(), 'lodestone-proxy-'));
  chmodSync(folder, 0o755);
  const address = join(folder, '.s.PGSQL.5432');
  const lines = new Set<{ caller: Socket; server: Socket }>();
  let state: State = 'open';

  const listener = createServer((caller) => {
    if (state === 'cut' || state === 'gone') return caller.destroy();
    const server = connect(socketPath);
    const line = { caller, server };
    lines.add(line);
    const end = () => {
      lines.delete(line);
      caller.destroy();
      server.destroy();
    };
    for (const socket of [caller, server]) socket.on('error', end).on('close', end);
    let earlier = Promise.resolve();
    caller.on('data', (bytes) => {
      const { delayMs } = proxy;
      earlier = earlier.then(async () => {
        if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
        server.write(bytes);
      });
    });
    server.on('data', (bytes) => caller.write(bytes));
    if (state === 'frozen') hold(line, true);
    return undefined;
  });
  const hold = ({ caller, server }: { caller: Socket; server: Socket }, frozen: boolean) => {
    for (const socket of [caller, server]) frozen ? socket.pause() : socket.resume();
  };
  const proxy: StoreProxy = {
    databaseUrl: `postgresql://${target.username}@/${target.pathname.slice(1)}?host=${encodeURIComponent(folder)}&port=5432`,
    delayMs: 0,
    set(next) {
      if (next === 'gone') listener.close();
      else if (state === 'gone') listener.listen(address);
      state = next;
      for (const line of lines) {
        if (next === 'cut' || next === 'gone') line.caller.destroy();
        else hold(line, next === 'frozen');
      }
    },
    close() {
      for (const { caller } of lines) caller.destroy();
      if (state !== 'gone') listener.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await new Promise<void>((resolve) => listener.listen(address, resolve));
  return proxy;
}
