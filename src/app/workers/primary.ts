/**
 * The primary process of `workers: N`. It does not serve. It runs the embedded store, keeps N workers on one port, passes signals on to
 * them, and ends when all of them have drained (docs/decisions/0017).
 */

import type { Worker } from 'node:cluster';
import cluster from 'node:cluster';
import type { Logger } from '../../base/logger.js';
import type { Config } from '../../config/config.js';
import type { SocketConnection } from '../../storage/embedded/embedded.js';
import { type Addresses, addressesOf } from '../addresses.js';
import { adminTokenOf } from '../admin-token.js';
import { demoParts, prepareDemo, readyText } from '../demo.js';
import { OpenParts } from '../open-parts.js';
import type { Ending } from '../running.js';
import { SettlerChild } from '../settler/settler-child.js';
import { prepareStorage } from '../storage.js';
import { FiguresExchange } from './figures-exchange.js';
import type { WorkerSettings } from './messages.js';
import { Seat, type SeatEvents } from './seat.js';

interface PrimaryOptions {
  config: Config;
  readConfig: () => Config;
  logger: Logger;
  /** The script that worker processes run. */
  mainFile: string;
  /** The program of the settler. */
  settleFile: string;
  /** Learns how to end this process after an uncaught error. */
  endsBy: (ending: Ending) => void;
}

/** Time after the drain for requests that were cut off to be counted and for the journal to be settled. */
const patienceMs = 45_000;

/** Resolves when all workers serve. Rejects, with everything stopped, where one cannot. */
export async function runPrimary(options: PrimaryOptions): Promise<void> {
  const primary = new Primary(options);
  let faulty = false;
  const end = async (signal: string, fault = false) => {
    faulty ||= fault;
    options.logger.info({ signal }, 'stopping: the workers refuse new work and finish running answers');
    const clean = await primary.stop(signal);
    process.exit(clean && !faulty ? undefined : 1);
  };
  // Workers that lose their primary stop by themselves.
  options.endsBy({ stop: end, abort: () => process.exit(1) });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void end(signal));
  process.on('SIGHUP', () => primary.reload());
  try {
    await primary.start();
  } catch (error) {
    process.exitCode = 1;
    await primary.stop('the start failed');
    throw error;
  }
}

function print(text: string): void {
  if (text !== '') console.log(text);
}

class Primary {
  readonly #parts = new OpenParts();
  readonly #handed = new HandedConnections();
  readonly #seats: Seat[];
  readonly #figures = new FiguresExchange(() => this.#seats);
  #config: Config;
  #prepared: Promise<SocketConnection | undefined> | undefined;
  #connection: SocketConnection | undefined;
  /** The port in use, once there is one. */
  #port: number | null = null;
  #stopping: Promise<boolean> | undefined;

  constructor(private readonly options: PrimaryOptions) {
    this.#config = options.config;
    this.#seats = Array.from({ length: options.config.workers }, (_, index) => this.#seat(index + 1));
  }

  /** Makes everything that exists once before the first worker starts: the store, the demo account, the admin token. */
  async start(): Promise<void> {
    const { logger, mainFile } = this.options;
    let demo = (_: Addresses): string => '';
    this.#prepared = prepareStorage(this.#config, logger, this.#parts, async (store) => {
      if (this.#config.demo) demo = await prepareDemo(demoParts(store, logger));
    });
    this.#connection = await this.#prepared;
    if (this.#stopping) return;
    const child = { file: this.options.settleFile, config: this.#config, connection: this.#connection, logger };
    this.#parts.add(new SettlerChild(child), (part) => part.stop());
    const { port } = this.#config.server;
    // A worker may be ready before this process knows, so the demo account is printed first. Where the system chooses the port, the
    // address is not known yet.
    if (port !== 0) print(demo(addressesOf(this.#config, port)));
    this.#config = { ...this.#config, adminToken: adminTokenOf(this.#config) };
    // Round-robin spreads kept-alive connections evenly. The kernel does not (docs/decisions/0017).
    cluster.schedulingPolicy = cluster.SCHED_RR;
    cluster.setupPrimary({ exec: mainFile, args: ['serve'], serialization: 'advanced' });
    const [first] = await Promise.all(this.#seats.map((seat) => seat.start()));
    if (this.#stopping || !first) return;
    if (port === 0) print(demo(first.addresses));
    print(readyText(first.addresses));
  }

  reload(): void {
    // One worker tells the other replicas. Every worker is told here, because what they would learn it by may be away.
    const teller = this.#seats.find(({ isServing }) => isServing);
    for (const seat of this.#seats) seat.send({ type: 'reload', alone: seat !== teller });
  }

  /** Resolves when everything has ended: false where something did not end cleanly. */
  stop(signal: string): Promise<boolean> {
    this.#stopping ??= this.#stopAll(signal);
    return this.#stopping;
  }

  async #stopAll(signal: string): Promise<boolean> {
    const { logger, config } = this.options;
    await this.#prepared?.catch(() => {});
    const waitMs = config.server.drainMs + patienceMs;
    const ended = await Promise.all(this.#seats.map((seat) => seat.stop(signal, waitMs)));
    try {
      await this.#parts.close();
    } catch (error) {
      logger.error({ error: String(error) }, 'stopped, but not cleanly; unsettled records wait in the journal');
      return false;
    }
    return ended.every(Boolean);
  }

  #seat(number: number): Seat {
    const events: SeatEvents = {
      forked: (worker) => this.#handed.watch(worker),
      settings: () => this.#settings(),
      serving: (port) => {
        this.#port ??= port;
        return port === this.#port;
      },
      figures: (message) => {
        if (message.type === 'ask_siblings') this.#figures.ask(number, message.ask, message.figures);
        else this.#figures.receive(number, message.round, message.figures);
      },
      died: () => this.#figures.remove(number),
    };
    return new Seat(number, events, this.options.logger);
  }

  #settings(): WorkerSettings {
    // A worker that asks for "any" port joins the workers that listen on the port the system chose. Where none is left, it has to ask
    // for that port by its number.
    const shared = this.#port === null || this.#seats.some(({ isServing }) => isServing);
    const { server } = this.#config;
    const config = { ...this.#currentConfig(), server: { ...server, port: shared ? server.port : this.#port! } };
    return { config, ...(this.#connection && { connection: this.#connection }) };
  }

  /** A worker that starts later also uses what a reload takes from the file, so that it is like the others. */
  #currentConfig(): Config {
    if (this.#port !== null) {
      try {
        const read = this.options.readConfig();
        const { catalogue, providers, metricsToken } = read;
        this.#config = { ...this.#config, catalogue, providers, metricsToken, adminToken: adminTokenOf(read) };
      } catch (error) {
        this.options.logger.warn(
          { error: String(error) },
          'the configuration cannot be read; a worker starts with the earlier one',
        );
      }
    }
    return this.#config;
  }
}

/** Node's handle of a connection. */
interface Handle {
  close(callback?: () => void): void;
}

/**
 * Connections that were sent to a worker which has not accepted them yet. Node forgets those of a worker that dies, and their clients would
 * wait for ever. Here they are closed, so that the clients can retry.
 */
class HandedConnections {
  readonly #holders = new Map<Handle, Worker>();

  /** Node sends a connection with the `send` of the process, and closes its copy once the worker has accepted it. */
  watch(worker: Worker): void {
    const send = worker.process.send?.bind(worker.process) as ((...args: unknown[]) => boolean) | undefined;
    if (!send) return;
    worker.process.send = (message: unknown, ...rest: unknown[]) => {
      if (isHandle(rest[0])) this.#hand(rest[0], worker);
      return send(message, ...rest);
    };
    worker.process.once('exit', () => {
      for (const [handle, holder] of this.#holders) if (holder === worker) handle.close();
    });
  }

  #hand(handle: Handle, worker: Worker): void {
    if (!this.#holders.has(handle)) {
      const close = handle.close.bind(handle);
      handle.close = (callback) => {
        this.#holders.delete(handle);
        close(callback);
      };
    }
    // A connection that a stopping worker refused goes to another.
    this.#holders.set(handle, worker);
  }
}

function isHandle(value: unknown): value is Handle {
  return typeof value === 'object' && value !== null && typeof (value as Handle).close === 'function';
}
