/**
 * Keeps one worker process running until it is stopped. A process that dies is replaced: at once the first time, and with growing pauses
 * where the next ones die soon after.
 */
import cluster, { type Worker } from 'node:cluster';
import type { Logger } from '../../base/logger.js';
import type { Addresses } from '../addresses.js';
import {
  type FiguresMessage,
  type FromWorker,
  type ToWorker,
  type WorkerSettings,
  workerVariable,
} from './messages.js';

export interface SeatEvents {
  /** A new process has been started and has sent nothing yet. */
  forked(worker: Worker): void;
  /** Called for each new process. */
  settings(): WorkerSettings;
  /** Returns false where the process serves on the wrong port. It is then ended and replaced. */
  serving(port: number): boolean;
  /** The process sends its figures, or asks for those of the others. */
  figures(message: FiguresMessage): void;
  /** A process has ended unexpectedly, or did not stop cleanly. */
  died(): void;
}

export interface Serving {
  port: number;
  addresses: Addresses;
}

/** A first start that failed. The message is for the operator. */
class WorkerFailed extends Error {
  constructor(text: string) {
    super(text);
    this.name = 'WorkerFailed';
  }
}

const pauseMinMs = 100;
const pauseMaxMs = 10_000;
/** A process that has served this long did not die because of its start. */
const soundMs = 30_000;

export class Seat {
  #worker: Worker | null = null;
  #serving = false;
  #servingSince = 0;
  #pauseMs = 0;
  #restart: NodeJS.Timeout | undefined;
  #stopping = false;
  #gone: (clean: boolean) => void = () => {};

  constructor(
    readonly number: number,
    private readonly events: SeatEvents,
    private readonly logger: Logger,
  ) {}

  get isServing(): boolean {
    return this.#serving;
  }

  /** Starts the first process. Rejects with WorkerFailed where it ends before it serves; it is then not replaced. */
  start(): Promise<Serving> {
    return new Promise((resolve, reject) => this.#fork(resolve, (text) => reject(new WorkerFailed(text))));
  }

  send(message: ToWorker): void {
    if (this.#worker?.isConnected()) this.#worker.send(message, undefined, () => {});
  }

  /** Resolves when the process has ended: true where it settled everything and ended by itself in time. */
  stop(signal: string, patienceMs: number): Promise<boolean> {
    this.#stopping = true;
    clearTimeout(this.#restart);
    const worker = this.#worker;
    if (!worker) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => worker.process.kill('SIGKILL'), patienceMs);
      this.#gone = (clean) => {
        clearTimeout(timer);
        resolve(clean);
      };
      this.send({ type: 'stop', signal });
    });
  }

  #fork(served: (serving: Serving) => void, failed: (text: string) => void): void {
    const worker = cluster.fork({ [workerVariable]: String(this.number) });
    this.#worker = worker;
    this.events.forked(worker);
    let text: string | undefined;
    worker.on('error', () => {});
    worker.on('message', (message: FromWorker) => {
      if (message.type === 'hello') this.#hello();
      else if (message.type === 'failed') text = message.text;
      else if (message.type === 'figures' || message.type === 'ask_siblings') this.events.figures(message);
      else if (this.#serves(message.port)) served(message);
    });
    worker.once('exit', (code, signal) => {
      const wasServing = this.#serving;
      this.#serving = false;
      this.#worker = null;
      const why = signal ?? `exit code ${code}`;
      if (this.#stopping) this.#ended(code === 0, why);
      else if (wasServing) this.#died(why);
      else failed(text ?? `Worker ${this.number} ended (${why}) before it served.`);
    });
  }

  #hello(): void {
    if (this.#stopping) this.send({ type: 'stop', signal: 'stopping' });
    else this.send({ type: 'start', ...this.events.settings() });
  }

  #serves(port: number): boolean {
    if (!this.events.serving(port)) {
      this.#worker?.process.kill('SIGTERM');
      return false;
    }
    this.#serving = true;
    this.#servingSince = performance.now();
    return true;
  }

  /** The settler settles what a process that did not end cleanly left, or the next start does. */
  #ended(clean: boolean, why: string): void {
    if (!clean) {
      this.logger.error(
        { worker: this.number, why },
        'a worker did not stop cleanly; its unsettled records wait in its journal',
      );
      this.events.died();
    }
    this.#gone(clean);
  }

  #died(why: string): void {
    if (performance.now() - this.#servingSince > soundMs) this.#pauseMs = 0;
    this.logger.error({ worker: this.number, why }, 'a worker ended unexpectedly; another takes its place');
    this.events.died();
    this.#startAgain();
  }

  #startAgain(): void {
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(Math.max(2 * pauseMs, pauseMinMs), pauseMaxMs);
    this.#restart = setTimeout(() => {
      this.#fork(
        ({ port }) => this.logger.info({ worker: this.number, port }, 'a worker serves again'),
        (text) => {
          this.logger.error({ worker: this.number, text }, 'a worker could not start; trying again');
          this.#startAgain();
        },
      );
    }, pauseMs);
  }
}
