/**
 * Keeps the process of the settler running, as long as this one does. A process that dies is replaced: at once the first time, and with
 * growing pauses where the next ones die soon after.
 */
import { type ChildProcess, fork } from 'node:child_process';
import type { Logger } from '../../base/logger.js';
import type { Config } from '../../config/config.js';
import type { SocketConnection } from '../../storage/embedded/embedded.js';
import type { ToProgram } from './messages.js';

interface ChildOptions {
  /** The program of the settler. */
  file: string;
  config: Config;
  /** The embedded store of this process; absent where the configuration names a database. */
  connection?: SocketConnection | undefined;
  logger: Logger;
}

const pauseMinMs = 100;
const pauseMaxMs = 5_000;
/** A process that has run this long did not die because of its start. */
const soundMs = 30_000;
/** Longer than the program takes to settle what is left. */
const stopMs = 15_000;

/** It settles in the background and holds little: a small heap and one helper thread are enough. */
const execArgv = ['--max-semi-space-size=8', '--v8-pool-size=1', '--max-old-space-size=512'];

export class SettlerChild {
  #child: ChildProcess | null = null;
  #startedAt = 0;
  #pauseMs = 0;
  #restart: NodeJS.Timeout | undefined;
  #stopping = false;
  #gone: () => void = () => {};

  constructor(private readonly options: ChildOptions) {
    this.#start();
  }

  /** Resolves when the process has settled what it could and has ended. */
  stop(): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#restart);
    const child = this.#child;
    if (!child) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => child.kill('SIGKILL'), stopMs);
      this.#gone = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#send({ type: 'stop' });
    });
  }

  #start(): void {
    const { file, config, connection, logger } = this.options;
    const child = fork(file, [], { serialization: 'advanced', execArgv });
    this.#child = child;
    this.#startedAt = performance.now();
    child.on('error', () => {});
    child.once('exit', (code, signal) => {
      this.#child = null;
      if (this.#stopping) this.#gone();
      else this.#died(signal ?? `exit code ${code}`);
    });
    this.#send({ type: 'start', config, ...(connection && { connection }) });
    logger.debug({ pid: child.pid }, 'the settler was started');
  }

  #send(message: ToProgram): void {
    if (this.#child?.connected) this.#child.send(message, () => {});
  }

  #died(why: string): void {
    if (performance.now() - this.#startedAt > soundMs) this.#pauseMs = 0;
    this.options.logger.error({ why }, 'the settler ended unexpectedly; another takes its place');
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(Math.max(2 * pauseMs, pauseMinMs), pauseMaxMs);
    this.#restart = setTimeout(() => this.#start(), pauseMs);
  }
}
