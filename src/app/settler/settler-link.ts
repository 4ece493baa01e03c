/**
 * The settler as a process that serves sees it: a connection to the process that settles the data directory. While that is away the link
 * tries again, and tells a new one where this process stands.
 */
import { connect, type Socket } from 'node:net';
import type { Logger } from '../../base/logger.js';
import { Pause } from '../../base/pause.js';
import { version } from '../../base/version.js';
import type { SettlementRow } from '../../domain/settlement-row.js';
import type { Attachment, Progress, RunPlace, SettlerPort } from '../../journal/settler-port.js';
import type { LogIdentity } from '../../proof/receipt.js';
import type { SealerFigures } from '../../sealing/sealer.js';
import type { Deployment } from '../deployment.js';
import { type FromSettler, type LogView, onLines, sendLine, type ToSettler, withSocketPath } from './messages.js';

export interface LinkOptions {
  dataDir: string;
  settling: Deployment['settling'];
  logger: Logger;
}

interface Ask {
  readonly until: number;
  resolve(isReplayed: boolean): void;
}

const retryMs = 50;
const retryMaxMs = 1_000;
/** A settler that is away for less is being replaced. */
const noticeableMs = 5_000;

export class SettlerLink implements SettlerPort {
  awaySince: number | null = performance.now();
  #socket: Socket | null = null;
  #connecting: Socket | null = null;
  #place: RunPlace | null = null;
  #progressed: (progress: Progress) => void = () => {};
  #wanted = 0;
  #hasEnded = false;
  #closing = false;
  readonly #pause = new Pause();
  readonly #running: Promise<void>;
  readonly #asks = new Map<number, Ask>();
  #lastAsk = 0;
  readonly #sending = new Map<number, Awaited<ReturnType<NonNullable<Deployment['settling']>>>>();
  #log: LogView | null = null;
  #identity: LogIdentity | null = null;
  #markLog: () => void = () => {};
  readonly #firstLog = new Promise<void>((resolve) => {
    this.#markLog = resolve;
  });

  constructor(private readonly options: LinkOptions) {
    this.#running = this.#run();
  }

  attach(place: RunPlace, progressed: (progress: Progress) => void): Attachment {
    this.#place = place;
    this.#progressed = progressed;
    this.#introduce();
    return {
      hurry: (position) => {
        this.#wanted = Math.max(this.#wanted, position);
        this.#send({ type: 'hurry', position });
      },
      end: () => {
        this.#hasEnded = true;
        this.#send({ type: 'end' });
      },
      detach: () => {
        this.#place = null;
        this.#send({ type: 'detach' });
      },
    };
  }

  replayed(timeoutMs: number): Promise<boolean> {
    const ask = ++this.#lastAsk;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#answered(ask, false), timeoutMs);
      this.#asks.set(ask, {
        until: performance.now() + timeoutMs,
        resolve: (isReplayed) => {
          clearTimeout(timer);
          resolve(isReplayed);
        },
      });
      this.#send({ type: 'replayed', ask, timeoutMs });
    });
  }

  /** What receipts of the log have in common; null until the log has begun. */
  identity(): LogIdentity | null {
    return this.#identity;
  }

  figures(): SealerFigures {
    const { size = 0, oldestUnsealedMs = null, fault = null } = this.#log ?? {};
    return { size, oldestUnsealedMs, fault };
  }

  /** Waits until the settler has said how the log stands. */
  async begun(msMax: number): Promise<void> {
    const wait = new Pause();
    await Promise.race([this.#firstLog, wait.wait(msMax)]);
    wait.end();
  }

  async close(): Promise<void> {
    this.#closing = true;
    this.#pause.end();
    this.#connecting?.destroy();
    await this.#running;
  }

  async #run(): Promise<void> {
    let pauseMs = retryMs;
    let isReported = false;
    while (!this.#closing) {
      if (await this.#connection()) {
        pauseMs = retryMs;
        isReported = false;
      }
      if (this.#closing) return;
      this.awaySince ??= performance.now();
      if (!isReported && performance.now() - this.awaySince > noticeableMs) {
        isReported = true;
        this.options.logger.error({}, 'no settler is reached; records wait in the journal');
      }
      await this.#pause.wait(pauseMs);
      pauseMs = Math.min(2 * pauseMs, retryMaxMs);
    }
  }

  /** Resolves when the connection has ended: true where there was one. */
  #connection(): Promise<boolean> {
    return withSocketPath(
      this.options.dataDir,
      (path) =>
        new Promise((resolve) => {
          let connected = false;
          const socket = connect(path);
          this.#connecting = socket;
          socket.on('error', () => {});
          socket.once('connect', () => {
            connected = true;
            this.#socket = socket;
            this.awaySince = null;
            this.#introduce();
          });
          onLines<FromSettler>(socket, this.options.logger, (message) => this.#take(message));
          socket.once('close', () => {
            this.#socket = null;
            this.#sending.clear();
            resolve(connected);
          });
        }),
    );
  }

  #introduce(): void {
    const { settling } = this.options;
    if (this.#place) this.#send({ type: 'attach', ...this.#place, shares: settling !== null, version });
    if (this.#place && this.#wanted > 0) this.#send({ type: 'hurry', position: this.#wanted });
    if (this.#place && this.#hasEnded) this.#send({ type: 'end' });
    for (const [ask, { until }] of this.#asks)
      this.#send({ type: 'replayed', ask, timeoutMs: Math.max(1, until - performance.now()) });
  }

  #send(message: ToSettler): void {
    if (this.#socket) sendLine(this.#socket, message);
  }

  #take(message: FromSettler): void {
    if (message.type === 'progress') this.#progressed(message);
    else if (message.type === 'replayed') this.#answered(message.ask, message.isReplayed);
    else if (message.type === 'sending') this.#sendingRows(message.batch, message.rows);
    else if (message.type === 'sent') void this.#sentRows(message.batch, message.outcome);
    else if (message.type === 'log') this.#takeLog(message.log);
  }

  #answered(ask: number, isReplayed: boolean): void {
    this.#asks.get(ask)?.resolve(isReplayed);
    this.#asks.delete(ask);
  }

  #sendingRows(batch: number, rows: readonly [string, string, string][]): void {
    const ended = this.options.settling?.(rows.map(chargedRow));
    if (ended) this.#sending.set(batch, ended);
    this.#send({ type: 'heard', batch });
  }

  async #sentRows(batch: number, outcome: 'arrived' | 'refused' | 'unanswered'): Promise<void> {
    const ended = this.#sending.get(batch);
    this.#sending.delete(batch);
    await ended?.(outcome).catch((error) =>
      this.options.logger.warn({ error: String(error) }, 'what a settlement changed could not be taken over'),
    );
    this.#send({ type: 'heard', batch });
  }

  #takeLog(log: LogView): void {
    this.#log = log;
    this.#identity = log.identity && { origin: log.identity.origin, salt: Buffer.from(log.identity.salt, 'base64') };
    this.#markLog();
  }
}

/** As much of a row as the charges of a fleet's process need. */
function chargedRow([id, accountId, charge]: [string, string, string]): SettlementRow {
  const bytes = Buffer.from(`${id}\t`);
  const chargePico = BigInt(charge);
  return { bytes, start: 0, end: bytes.length, accountId, keyId: '', chargePico, countedPico: chargePico, line: null };
}
