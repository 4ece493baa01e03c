/** What the primary and its workers say to one another. */

import type { Config } from '../../config/config.js';
import type { Figures } from '../../observability/metrics/figures.js';
import type { SocketConnection } from '../../storage/embedded/embedded.js';
import type { Addresses } from '../addresses.js';

export interface WorkerSettings {
  config: Config;
  /** Of the embedded store that the primary runs; absent where the configuration names a database. */
  connection?: SocketConnection;
}

export type ToWorker =
  | ({ type: 'start' } & WorkerSettings)
  | { type: 'reload' }
  /** A sibling is gone: what is left in its journal is to be settled. */
  | { type: 'adopt' }
  /** Tell your figures: another worker is being scraped. */
  | { type: 'figures'; round: number }
  /** The answer to a worker's question of the same type. */
  | { type: 'siblings'; ask: number; siblings: Figures[] }
  | { type: 'stop'; signal: string };

export type FromWorker =
  /** Ready to be told what to serve. */
  | { type: 'hello' }
  | { type: 'serving'; port: number; addresses: Addresses }
  /** The start failed; the text is for the operator. */
  | { type: 'failed'; text: string }
  | FiguresMessage;

export type FiguresMessage =
  /** Of this worker; asked for by the primary. */
  | { type: 'figures'; round: number; figures: Figures }
  /** This worker is being scraped, and asks for the figures of the others. */
  | { type: 'siblings'; ask: number; figures: Figures };

/** The variable that makes a process a worker, and says which. */
export const workerVariable = 'LODESTONE_WORKER';
