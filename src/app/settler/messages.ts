/**
 * The messages between a process that serves and the settler: one JSON text a line, over a socket in the data directory. The two may be of
 * different versions: messages and members are only added, and whoever does not know one passes over it. Version 1.0.0 does not, so a
 * message of another type goes only to a process whose `attach` names a version.
 */
import { closeSync, openSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { Logger } from '../../base/logger.js';
import type { Config } from '../../config/config.js';
import type { SettlementOutcome } from '../../fleet/fleet.js';
import type { Progress } from '../../journal/settler-port.js';
import type { SealerFigures } from '../../sealing/sealer.js';
import type { SocketConnection } from '../../storage/embedded/embedded.js';

export type ToSettler =
  /** `shares`: tell before rows of this process are sent, and how that ended. */
  | { type: 'attach'; dir: string; run: string; shares: boolean; version: string }
  | { type: 'hurry'; position: number }
  | { type: 'end' }
  | { type: 'detach' }
  | { type: 'replayed'; ask: number; timeoutMs: number }
  | { type: 'heard'; batch: number };

export type FromSettler =
  | ({ type: 'progress' } & Progress)
  | { type: 'replayed'; ask: number; isReplayed: boolean }
  /** The id, the account and the charge in pico-dollars of each row. */
  | { type: 'sending'; batch: number; rows: readonly [string, string, string][] }
  | { type: 'sent'; batch: number; outcome: SettlementOutcome }
  | { type: 'log'; log: LogView };

/** What a process that serves has to know of the log of receipts. */
export interface LogView extends SealerFigures {
  /** The salt as base64. */
  readonly identity: { readonly origin: string; readonly salt: string } | null;
}

/** Sent to the process of the settler by the one that started it. */
export type ToProgram = { type: 'start'; config: Config; connection?: SocketConnection } | { type: 'stop' };

const socketName = 'settle.sock';

/** A socket's path holds only about a hundred bytes, and a data directory may be deep. */
export function withSocketPath<T>(dataDir: string, use: (path: string) => Promise<T>): Promise<T> {
  if (process.platform !== 'linux') return use(join(dataDir, socketName));
  const dirFd = openSync(dataDir, 'r');
  return use(`/proc/self/fd/${dirFd}/${socketName}`).finally(() => closeSync(dirFd));
}

export const socketFile = (dataDir: string): string => join(dataDir, socketName);

export function sendLine(socket: Socket, message: ToSettler | FromSettler): void {
  if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
}

/** What another version sends must not end this process. */
export function onLines<Message>(socket: Socket, logger: Logger, take: (message: Message) => void): void {
  const read = (line: string) => {
    try {
      take(JSON.parse(line) as Message);
    } catch (error) {
      logger.error(
        { error: String(error) },
        'a message between the settler and a process that serves was not understood',
      );
    }
  };
  let rest = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    for (const line of lines) read(line);
  });
}
