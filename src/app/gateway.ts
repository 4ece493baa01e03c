/** What a gateway is started with, and what it can do once it runs. */
import type { AccountDirectory } from '../accounts/directory.js';
import type { Logger } from '../base/logger.js';
import type { Clock } from '../base/time.js';
import type { Config } from '../config/config.js';
import type { HttpDeps } from '../http/deps.js';
import type { Figures } from '../observability/metrics/figures.js';
import type { SocketConnection } from '../storage/embedded/embedded.js';
import type { Store } from '../storage/store.js';
import type { Addresses } from './addresses.js';
import type { SettlementPlace } from './settlement.js';

export interface GatewayOptions {
  config: Config;
  clock?: Clock;
  logger?: Logger;
  env?: NodeJS.ProcessEnv;
  /** Reads the configuration again; a reload takes the catalogue list, the providers' settings and the tokens from it. */
  rereadConfig?: () => Config;
  /** The embedded store that the primary process runs; without it this process starts its own. */
  storeConnection?: SocketConnection;
  /** Prints the demo account of a first start, before the gateway is ready. Absent: no demo account is made. */
  print?: (text: string) => void;
  /** Where the journals are settled; absent: in this process. */
  settlement?: SettlementPlace;
  /** The figures of the other workers of this machine, for a scrape that this one answers. */
  siblings?: HttpDeps['siblings'];
}

export interface Gateway {
  readonly port: number;
  readonly baseUrl: string;
  readonly addresses: Addresses;
  readonly directory: AccountDirectory;
  readonly store: Store;
  /** Takes changed files and tokens into use. Unless `alone`, the other processes of the fleet do the same. */
  reload(alone?: boolean): Promise<void>;
  /** Prepares the request path in the background, so that the first request does not wait for what is made on first use. */
  warmUp(): void;
  /** The metrics of this process alone. */
  figures(): Figures;
  /** Refuses new work, lets running answers finish within the drain time (or a shorter one), and settles everything. */
  stop(drainMsMax?: number): Promise<void>;
  /** Writes the unsettled records into the journal's file and to standard error, at once. */
  reportUnsettled(): void;
}
