/**
 * One of several processes that serve on a common port: is told by its primary what to serve, and says when it does. It stops
 * when told to, and also when the primary is gone: running answers are finished and settled either way.
 */
import cluster from 'node:cluster';
import { createLogger, type Logger } from '../../base/logger.js';
import { loadConfig } from '../../config/load-config.js';
import type { Figures } from '../../observability/metrics/figures.js';
import { type Gateway, startGateway } from '../compose.js';
import { endingOf, endOnFault, startFaultText } from '../running.js';
import { type FromWorker, type ToWorker, type WorkerSettings, workerVariable } from './messages.js';

/** Null where this process is no worker of ours. */
export function workerNumber(): number | null {
  const number = Number(process.env[workerVariable]);
  return cluster.isWorker && Number.isInteger(number) && number > 0 ? number : null;
}

/** The exit code of a start, as of `runServer`. */
export async function runWorker(number: number): Promise<number> {
  const logger = createLogger(undefined, { worker: number });
  const siblings = new Siblings(say);
  let told = false;
  const starting = awaitSettings().then((settings) => {
    told = true;
    return start(settings, logger, siblings);
  });
  const ending = endingOf(starting, logger);
  endOnFault(logger, () => (told ? ending : null));
  process.on('message', (message: ToWorker) => {
    if (message.type === 'figures' || message.type === 'siblings')
      void starting.then((gateway) => siblings.heard(message, () => gateway.figures())).catch(() => {});
  });
  obey(starting, (why) => (told ? void ending.stop(why) : process.exit(0)));
  await say({ type: 'hello' });
  try {
    const { port, addresses, loadTokenizer } = await starting;
    await say({ type: 'serving', port, addresses });
    loadTokenizer();
    return 0;
  } catch (error) {
    await say({ type: 'failed', text: startFaultText(error) });
    return process.exit(1);
  }
}

/** Resolves when it is said; where there is no primary any more, nobody is told. */
function say(message: FromWorker): Promise<void> {
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
    // On its way here an object gets a prototype, and an id such as `constructor` would be found in it.
    config: { ...config, providers: Object.assign(Object.create(null), config.providers) },
    logger,
    rereadConfig: () => loadConfig({ file: config.file ?? undefined, env: process.env, cwd: process.cwd() }),
    siblings: siblings.ask,
    ...(connection && { storeConnection: connection }),
  });
}

function obey(starting: Promise<Gateway>, stop: (why: string) => void): void {
  const orders: Partial<Record<ToWorker['type'], (gateway: Gateway) => Promise<unknown>>> = {
    reload: ({ catalogue }) => catalogue.reload(),
    adopt: ({ journal }) => journal.adopt(),
  };
  process.on('message', (message: ToWorker) => {
    if (message.type === 'stop') stop(message.signal);
    const order = orders[message.type];
    if (order) void starting.then(order).catch(() => {});
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(signal));
  // A terminal that closes tells every process; the primary passes one order on.
  process.on('SIGHUP', () => {});
  cluster.worker?.on('disconnect', () => {
    // Else node ends the process at once, and running answers with it.
    if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
    stop('the primary process is gone');
  });
}

// A worker's part in a scrape: asks the primary for the figures of the other workers, and tells its own when it is asked.

/** The primary itself waits a second for the others. */
const waitMs = 1_500;

export class Siblings {
  readonly #asks = new Map<number, (siblings: Figures[]) => void>();
  #lastAsk = 0;

  constructor(private readonly say: (message: FromWorker) => Promise<void>) {}

  /** Nothing where the primary does not answer: the scrape then tells of this process alone. */
  readonly ask = (own: Figures): Promise<Figures[]> => {
    const ask = ++this.#lastAsk;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#answered(ask, []), waitMs);
      this.#asks.set(ask, (siblings) => {
        clearTimeout(timer);
        resolve(siblings);
      });
      void this.say({ type: 'siblings', ask, figures: own });
    });
  };

  heard(message: ToWorker, own: () => Figures): void {
    if (message.type === 'siblings') this.#answered(message.ask, message.siblings);
    if (message.type === 'figures') void this.say({ type: 'figures', round: message.round, figures: own() });
  }

  #answered(ask: number, siblings: Figures[]): void {
    this.#asks.get(ask)?.(siblings);
    this.#asks.delete(ask);
  }
}
