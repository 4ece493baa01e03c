/** The messages between the primary process and its workers. */
import type { Config } from '../../config/config.js';
import type { Figures } from '../../observability/metrics/figures.js';
import type { SocketConnection } from '../../storage/embedded/embedded.js';
import type { Addresses } from '../addresses.js';

export interface WorkerSettings {
  config: Config;
  /** The connection to the embedded store of the primary; absent where the configuration names a database. */
  connection?: SocketConnection;
}

export type ToWorker =
  | ({ type: 'start' } & WorkerSettings)
  /** Unless `alone`, this worker tells the other replicas too. */
  | { type: 'reload'; alone: boolean }
  /** Send your figures, because another worker is being scraped. */
  | { type: 'ask_figures'; round: number }
  /** The answer to the worker's `ask_siblings`. */
  | { type: 'siblings'; ask: number; siblings: Figures[] }
  | { type: 'stop'; signal: string };

export type FromWorker =
  /** The worker waits for its settings. */
  | { type: 'hello' }
  | { type: 'serving'; port: number; addresses: Addresses }
  /** The start failed; the text is for the operator. */
  | { type: 'failed'; text: string }
  | FiguresMessage;

export type FiguresMessage =
  /** The answer to the primary's `ask_figures`. */
  | { type: 'figures'; round: number; figures: Figures }
  /** This worker is being scraped and asks for the figures of the others. */
  | { type: 'ask_siblings'; ask: number; figures: Figures };

/** The environment variable that makes a process a worker. Its value is the worker's number. */
export const workerVariable = 'LODESTONE_WORKER';
