/** Opens the log of receipts: its origin, its key file and the sealer, as the configuration says. */
import { join } from 'node:path';
import type { Logger } from '../base/logger.js';
import { SharedRead } from '../base/shared-read.js';
import type { Clock } from '../base/time.js';
import type { Config } from '../config/config.js';
import type { HttpDeps } from '../http/deps.js';
import type { PipelinePorts } from '../pipeline/ports.js';
import { LogKeyFile } from '../sealing/log-key.js';
import { PublishedCheckpoint } from '../sealing/published-checkpoint.js';
import { rotateKey } from '../sealing/rotate-key.js';
import { Sealer } from '../sealing/sealer.js';
import type { Store } from '../storage/store.js';
import { localAddress } from './addresses.js';
import type { OpenParts } from './open-parts.js';

interface ProofDeps {
  config: Config;
  store: Store;
  clock: Clock;
  logger: Logger;
  /** The address at which clients reach the gateway. */
  base: () => string;
  /** null where no receipts are logged. */
  sealer: OpenedSealer | null;
}

export interface Proof {
  readonly http: HttpDeps['proof'];
  /** Once the log can be read, where it can begin; it is not waited for for long. */
  readonly begun: Promise<void>;
  /** null where no receipts are logged. */
  readonly pipeline: PipelinePorts['proof'];
}

/** How long a start waits for the log. */
export const begunMs = 3_000;

/** Where the system chooses the port, it is no part of the origin: it is another one at each start. */
function originOf(config: Config): string {
  const { server, proof } = config;
  if (proof.origin !== null) return proof.origin;
  const { host } = new URL(server.baseUrl ?? localAddress(config, server.port));
  return `${server.port === 0 && server.baseUrl === null ? host.replace(/:0$/, '') : host}/log`;
}

export function logKeyFileOf({ proof: { keyFile }, storage: { dataDir } }: Config): LogKeyFile {
  return new LogKeyFile(keyFile ?? join(dataDir, 'log-key'), keyFile === null);
}

/** The sealer, in this process or in that of the settler. */
export interface OpenedSealer extends Pick<Sealer, 'identity' | 'figures'> {
  readonly begun: Promise<void>;
}

/** Seals in this process. null where no receipts are logged. */
export function openSealer(deps: Omit<ProofDeps, 'base' | 'sealer'>, parts: OpenParts): OpenedSealer | null {
  const { config, store, clock, logger } = deps;
  if (!config.proof.enabled) {
    void store.log.setActive(false).catch((error) => logger.warn({ error: String(error) }, 'the log cannot be read'));
    return null;
  }
  const published = new PublishedCheckpoint(join(config.storage.dataDir, 'log-checkpoint'));
  const keyFile = logKeyFileOf(config);
  const sealer = parts.add(
    new Sealer({ store: store.log, origin: originOf(config), keyFile, published, clock, logger }),
    (part) => part.close(),
  );
  store.log.join(() => sealer.identity());
  sealer.start();
  return {
    begun: sealer.begun(begunMs),
    identity: () => sealer.identity(),
    figures: () => sealer.figures(),
  };
}

/** What the API and the request path know of the log. */
export function openProof({ config, store, clock, base, sealer }: ProofDeps): Proof {
  const keyFile = logKeyFileOf(config);
  // Never older than the call, so that no checkpoint is behind a proof that any process has given out. However many ask, one read runs.
  const current = new SharedRead(() => store.log.state());
  const shown = { baseUrl: base, state: () => current.ask() };
  if (!sealer) return { http: { ...shown, sealer: null, rotate: null }, begun: Promise.resolve(), pipeline: null };
  const rotate = () => rotateKey({ store: store.log, keyFile, clock });
  return {
    http: { ...shown, sealer, rotate },
    begun: sealer.begun,
    pipeline: { hashBodies: config.proof.hashBodies, identity: () => sealer.identity() },
  };
}
