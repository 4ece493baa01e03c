/** The socket of the settler, at which the processes that serve from the same data directory attach their journals. */
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { Logger } from '../../base/logger.js';
import { version } from '../../base/version.js';
import { rowId } from '../../domain/settlement-row.js';
import type { SettlementOutcome } from '../../fleet/fleet.js';
import type { Attachment, SettlerPort } from '../../journal/settler-port.js';
import type { Waiting } from '../../journal/source.js';
import {
  type FromSettler,
  type LogView,
  onLines,
  sendLine,
  socketFile,
  type ToSettler,
  withSocketPath,
} from './messages.js';

/** A process that stands still for longer must not hold up the settlement of the others. */
const heardMs = 2_000;

export class SettlerSocket {
  readonly #connections = new Set<Connection>();
  #server: Server | null = null;
  #batch = 0;
  #log: LogView | null = null;

  constructor(
    private readonly dataDir: string,
    private readonly settler: () => SettlerPort,
    private readonly logger: Logger,
  ) {}

  get isIdle(): boolean {
    return this.#connections.size === 0;
  }

  async listen(): Promise<void> {
    rmSync(socketFile(this.dataDir), { force: true });
    const server = createServer((socket) => this.#accept(socket));
    this.#server = server;
    await withSocketPath(this.dataDir, async (path) => {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen({ path }, resolve);
      });
      chmodSync(path, 0o600);
    });
    server.on('error', () => {});
  }

  close(): void {
    this.refuse();
    for (const { socket } of this.#connections) socket.destroy();
  }

  /** Accepts no process any more. */
  refuse(): void {
    this.#server?.close();
    rmSync(socketFile(this.dataDir), { force: true });
  }

  tellLog(log: LogView): void {
    if (JSON.stringify(log) === JSON.stringify(this.#log)) return;
    this.#log = log;
    for (const { socket } of this.#connections) sendLine(socket, { type: 'log', log });
  }

  /** The rows are about to be sent to the store. Returns what is to be called with how that ended, and the rows that nobody knows of. */
  async sending(
    rows: readonly Waiting[],
  ): Promise<{ strangers: readonly Waiting[]; ended: (outcome: SettlementOutcome) => Promise<void> }> {
    const sharing = [...this.#connections].filter(({ shares }) => shares);
    const batch = ++this.#batch;
    const told = sharing
      .map((connection) => ({ connection, own: rows.filter(({ source }) => source.run === connection.run) }))
      .filter(({ own }) => own.length > 0);
    await Promise.all(
      told.map(({ connection, own }) => connection.tell({ type: 'sending', batch, rows: own.map(chargeOf) }, batch)),
    );
    const runs = new Set(sharing.map(({ run }) => run));
    return {
      strangers: rows.filter(({ source }) => !runs.has(source.run)),
      ended: async (outcome) => {
        await Promise.all(told.map(({ connection }) => connection.tell({ type: 'sent', batch, outcome }, batch)));
      },
    };
  }

  #accept(socket: Socket): void {
    const connection = new Connection(socket, this.settler(), this.logger);
    this.#connections.add(connection);
    socket.on('error', () => {});
    socket.once('close', () => {
      this.#connections.delete(connection);
      connection.close();
    });
    if (this.#log) sendLine(socket, { type: 'log', log: this.#log });
  }
}

const chargeOf = (row: Waiting): [string, string, string] => [rowId(row), row.accountId, String(row.chargePico)];

class Connection {
  run: string | null = null;
  shares = false;
  #attachment: Attachment | null = null;
  readonly #heard = new Map<number, () => void>();

  constructor(
    readonly socket: Socket,
    private readonly settler: SettlerPort,
    private readonly logger: Logger,
  ) {
    onLines<ToSettler>(socket, logger, (message) => this.#take(message));
  }

  /** Resolves when the process has heard it, or is gone, or takes too long. */
  tell(message: FromSettler, batch: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#hears(batch), heardMs);
      this.#heard.set(batch, () => {
        clearTimeout(timer);
        resolve();
      });
      sendLine(this.socket, message);
      if (this.socket.destroyed) this.#hears(batch);
    });
  }

  close(): void {
    this.#attachment?.detach();
    for (const batch of [...this.#heard.keys()]) this.#hears(batch);
  }

  #take(message: ToSettler): void {
    if (message.type === 'attach') {
      this.run = message.run;
      this.shares = message.shares;
      const { version: theirs = '1.0.0' } = message as { version?: string };
      if (theirs !== version)
        this.logger.info({ theirs, version }, 'a process of another version is attached to this settler; both go on');
      this.#attachment = this.settler.attach(message, (progress) =>
        sendLine(this.socket, { type: 'progress', ...progress }),
      );
    } else if (message.type === 'hurry') this.#attachment?.hurry(message.position);
    else if (message.type === 'end') this.#attachment?.end();
    else if (message.type === 'detach') this.#attachment?.detach();
    else if (message.type === 'heard') this.#hears(message.batch);
    else if (message.type === 'replayed') void this.#replayed(message.ask, message.timeoutMs);
  }

  async #replayed(ask: number, timeoutMs: number): Promise<void> {
    const isReplayed = await this.settler.replayed(timeoutMs);
    sendLine(this.socket, { type: 'replayed', ask, isReplayed });
  }

  #hears(batch: number): void {
    this.#heard.get(batch)?.();
    this.#heard.delete(batch);
  }
}
