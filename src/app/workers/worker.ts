/**
 * A worker process. It gets its settings from the primary, serves on the common port, and reports when it serves. It stops when the
 * primary asks for it or ends. Running answers are finished and settled in both cases.
 */
import cluster from 'node:cluster';
import { createLogger, type Logger } from '../../base/logger.js';
import { loadConfig } from '../../config/load-config.js';
import type { Figures } from '../../observability/metrics/figures.js';
import { startGateway } from '../compose.js';
import type { Gateway } from '../gateway.js';
import { endingOf, endOnFault, startFaultText } from '../running.js';
import { type FromWorker, type ToWorker, type WorkerSettings, workerVariable } from './messages.js';

/** null where this process is not a worker. */
export function workerNumber(): number | null {
  const number = Number(process.env[workerVariable]);
  return cluster.isWorker && Number.isInteger(number) && number > 0 ? number : null;
}

/** The exit code of a start, as of `runServer`. */
export async function runWorker(number: number): Promise<number> {
  const logger = createLogger(undefined, { worker: number });
  const siblings = new Siblings((message) => void sendToPrimary(message));
  let hasSettings = false;
  const starting = awaitSettings().then((settings) => {
    hasSettings = true;
    return start(settings, logger, siblings);
  });
  const ending = endingOf(starting, logger);
  endOnFault(logger, () => (hasSettings ? ending : null));
  process.on('message', (message: ToWorker) => {
    if (message.type === 'ask_figures' || message.type === 'siblings')
      void starting.then((gateway) => siblings.receive(message, () => gateway.figures())).catch(() => {});
  });
  followOrders(starting, (why) => (hasSettings ? void ending.stop(why) : process.exit(0)));
  await sendToPrimary({ type: 'hello' });
  try {
    const { port, addresses, warmUp } = await starting;
    await sendToPrimary({ type: 'serving', port, addresses });
    warmUp();
    return 0;
  } catch (error) {
    await sendToPrimary({ type: 'failed', text: startFaultText(error) });
    return process.exit(1);
  }
}

/** Resolves when the message is sent. Without a primary it does nothing. */
function sendToPrimary(message: FromWorker): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send?.(message, undefined, undefined, () => resolve());
    else resolve();
  });
}

function awaitSettings(): Promise<WorkerSettings> {
  return new Promise((resolve) => {
    const listen = (message: ToWorker) => {
      if (message.type !== 'start') return;
      process.off('message', listen);
      resolve(message);
    };
    process.on('message', listen);
  });
}

function start({ config, connection }: WorkerSettings, logger: Logger, siblings: Siblings): Promise<Gateway> {
  return startGateway({
    // The message gave the object a prototype, in which an id such as `constructor` would be found.
    config: { ...config, providers: Object.assign(Object.create(null), config.providers) },
    logger,
    rereadConfig: () => loadConfig({ file: config.file ?? undefined, env: process.env, cwd: process.cwd() }),
    siblings: siblings.ask,
    settlement: 'elsewhere',
    ...(connection && { storeConnection: connection }),
  });
}

function followOrders(starting: Promise<Gateway>, stop: (why: string) => void): void {
  process.on('message', (message: ToWorker) => {
    if (message.type === 'stop') stop(message.signal);
    if (message.type !== 'reload') return;
    void starting.then((gateway) => gateway.reload(message.alone)).catch(() => {});
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(signal));
  // A closing terminal signals every process. The primary passes one reload on.
  process.on('SIGHUP', () => {});
  cluster.worker?.on('disconnect', () => {
    // Without this Node ends the process at once, with its running answers.
    if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
    stop('the primary process is gone');
  });
}

/** Longer than the second that the primary waits for the other workers. */
const waitMs = 1_500;

/** Asks the primary for the figures of the other workers, and sends the figures of this one when the primary asks. */
export class Siblings {
  readonly #asks = new Map<number, (siblings: Figures[]) => void>();
  #lastAsk = 0;

  constructor(private readonly send: (message: FromWorker) => void) {}

  /** Resolves to [] where the primary does not answer. The scrape then covers only this process. */
  readonly ask = (own: Figures): Promise<Figures[]> => {
    const ask = ++this.#lastAsk;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#resolve(ask, []), waitMs);
      this.#asks.set(ask, (siblings) => {
        clearTimeout(timer);
        resolve(siblings);
      });
      this.send({ type: 'ask_siblings', ask, figures: own });
    });
  };

  receive(message: ToWorker, own: () => Figures): void {
    if (message.type === 'siblings') this.#resolve(message.ask, message.siblings);
    if (message.type === 'ask_figures') this.send({ type: 'figures', round: message.round, figures: own() });
  }

  #resolve(ask: number, siblings: Figures[]): void {
    this.#asks.get(ask)?.(siblings);
    this.#asks.delete(ask);
  }
}
