/** The only file that names concrete classes: puts the parts together and takes them apart again, in order. */
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { AuditLog } from '../accounts/audit.js';
import { AccountDirectory } from '../accounts/directory.js';
import { ExpirySweeper } from '../accounts/keys/expiry-sweeper.js';
import { DemoClaim } from '../accounts/sign-in/demo-claim.js';
import { GuessLimiter } from '../accounts/sign-in/guess-limiter.js';
import { SignIns } from '../accounts/sign-in/sign-ins.js';
import { createLogger, type Logger } from '../base/logger.js';
import { makePrivateDirectory } from '../base/private-directory.js';
import { type Clock, systemClock } from '../base/time.js';
import { CatalogueHolder, type CatalogueSources } from '../catalogue/catalogue-holder.js';
import { Fleet } from '../cluster/fleet/fleet.js';
import { MemoryBuckets, MemoryCounters, type MemoryCountersOptions } from '../cluster/memory.js';
import type { Config } from '../config/config.js';
import type { SettlementRow } from '../domain/settlement-row.js';
import { ModelStates } from '../health/model-states.js';
import { QuotaHolds } from '../health/quota-holds.js';
import { RouteHealth } from '../health/route-health.js';
import { createChatHandler, createPlayground } from '../http/chat/handler.js';
import { RunningChats } from '../http/chat/running-chats.js';
import type { HttpDeps } from '../http/deps.js';
import { createServer } from '../http/server/server.js';
import { type JournalSlot, openJournalSlot, writeToStandardError } from '../journal/journal-slots.js';
import { AdminLimiter } from '../limits/admin-limiter.js';
import { BodyMemory } from '../limits/body-memory.js';
import { exactPeersMax, IpLimiter } from '../limits/ip-limiter.js';
import { KeyLimiter } from '../limits/key-limiter.js';
import type { Figures } from '../observability/metrics/figures.js';
import { explain } from '../pipeline/explain.js';
import { spokenDialects } from '../providers/dialects/registry.js';
import type { SocketConnection } from '../storage/embedded/embedded.js';
import { type Store, StoreUnavailable } from '../storage/store.js';
import { Territories } from '../territory/territories.js';
import { type Addresses, addressesOf, localAddress } from './addresses.js';
import { adminTokenOf } from './admin-token.js';
import { dashboardAddress, dashboardSettings } from './dashboard.js';
import { prepareDemo } from './demo.js';
import { openObservability } from './observability.js';
import { Opened } from './opened.js';
import { openPayments } from './payments.js';
import { pipelinePorts } from './pipeline-ports.js';
import { lookForOthers, openShared } from './shared.js';
import { openStorage } from './storage.js';

const replayMs = 5_000;
/** After the drain time, for what was cut off to be counted and settled. */
const settleMs = 10_000;
/** A probe that never reports back is given up this long after its last budget. */
const probeGraceMs = 5_000;

export interface GatewayOptions {
  config: Config;
  clock?: Clock;
  logger?: Logger;
  env?: NodeJS.ProcessEnv;
  /** Reads the configuration file again; a reload takes the catalogue list and the providers' settings from it. */
  rereadConfig?: () => Config;
  /** The embedded store that another process of ours runs; without it this one runs its own. */
  storeConnection?: SocketConnection;
  /** Takes what a first start makes for people, before anybody is told that the gateway is ready; absent: nothing is made. */
  print?: (text: string) => void;
  /** Where several processes serve as one: the figures of the others, for a scrape that this one answers. */
  siblings?: HttpDeps['siblings'];
}

export interface Gateway {
  readonly port: number;
  readonly baseUrl: string;
  readonly addresses: Addresses;
  readonly adminToken: string;
  readonly directory: AccountDirectory;
  readonly catalogue: CatalogueHolder;
  readonly store: Store;
  readonly journal: Pick<JournalSlot, 'adopt'>;
  /** Loads, beside the requests, what counts tokens, so that the first answer without usage does not wait for it. */
  loadTokenizer(): void;
  /** What `GET /metrics` tells of this process alone. */
  figures(): Figures;
  /** Refuses new work, lets answers finish within the drain time (or a shorter one), settles everything. */
  stop(drainMsMax?: number): Promise<void>;
  /** Writes what is not settled into the journal's file and to standard error, at once. */
  reportUnsettled(): void;
}

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const opened = new Opened();
  try {
    return await start(options, opened);
  } catch (error) {
    // What stopped the start is told, not what followed from it.
    await opened.close().catch(() => {});
    throw error;
  }
}

async function start(
  {
    config,
    clock = systemClock,
    logger = createLogger(),
    env = process.env,
    rereadConfig,
    storeConnection,
    print,
    siblings,
  }: GatewayOptions,
  opened: Opened,
): Promise<Gateway> {
  const adminToken = adminTokenOf(config);
  const { meters, processMeters, tracing } = await openObservability(env, logger, opened);
  const territories = await Territories.open(config, logger);
  const shared = await openShared(config, clock, logger, opened);
  const counters = (family: string, options?: MemoryCountersOptions) =>
    shared ? shared.counters(family, options) : new MemoryCounters(clock, options);
  const ipLimiter = new IpLimiter(config.limits.ipRequestsPerMinute, counters('ip', { namesMax: exactPeersMax }));
  const keyLimiter = new KeyLimiter(config.limits, counters('requests'), counters('tokens'));
  const bodyMemory = opened.add(new BodyMemory({ bytesMax: config.server.bodyMemoryMaxBytes }), (part) => part.close());
  makePrivateDirectory(config.storage.dataDir);
  const store = await openStorage(config, logger, opened, storeConnection);
  const fleet =
    shared &&
    opened.add(
      new Fleet({
        ...{ store, clock, logger, versions: shared.versions, admission: shared.admission },
        replayed: () => replayed(),
        settled: async () => {
          if (!(await journal.settled(replayMs))) throw new StoreUnavailable('settlements still wait in the journal');
        },
        readStates: async () => void (await Promise.all([modelStates.load(), holds.reload()])),
        readCatalogue: () => catalogue.reload(),
      }),
      (part) => part.close(),
    );
  const settle = (batch: readonly SettlementRow[]) => (fleet ? fleet.settle(batch) : store.ledger.settle(batch));
  const journal = opened.add(
    await openJournalSlot({
      dataDir: config.storage.dataDir,
      shared: config.storage.redisUrl !== null,
      sharesStoreDisk: config.storage.databaseUrl === null,
      settle,
      clock,
      logger,
    }),
    (part) => part.close(),
  );
  const audit = new AuditLog(store.audit, clock, logger);
  const replayed = replayedOnce(journal);
  const directory = opened.add(
    new AccountDirectory({ store, clock, audit, replayed, identities: fleet?.identities }),
    (part) => part.close(),
  );
  const changed = fleet ? () => fleet.changed('states') : undefined;
  const modelStates = new ModelStates(store.availability, changed);
  const holds = opened.add(
    new QuotaHolds({
      ...{ store: store.holds, clock, logger, changed, totals: shared?.totals },
      dir: join(config.storage.dataDir, 'holds'),
    }),
    (part) => part.close(),
  );
  const loadStates = async () => {
    await modelStates.load();
    // Today's tokens of an earlier process count against a route's daily quota too.
    await journal.replayed(replayMs);
    await holds.load();
  };
  await fleet?.listen();
  await (fleet ? fleet.states.startedWith(loadStates) : loadStates());
  const health = new RouteHealth(clock, { ...config.breaker, probeMaxMs: config.timeouts.overallMs + probeGraceMs });
  const catalogue = new CatalogueHolder({
    ...sourcesOf(config),
    ...(rereadConfig && { reread: () => sourcesOf(rereadConfig()) }),
    ...{ env, clock, logger, dialects: spokenDialects },
    onLoad: ({ routes }) => {
      const known = new Set(routes.keys());
      health.forget(known);
      meters.forget(known);
      return holds.enforce(routes.values());
    },
  });
  const expiry = opened.add(new ExpirySweeper(directory, clock, logger), (part) => part.stop());
  const ports = pipelinePorts(
    {
      ...{ config, env, clock, logger, territories, ipLimiter, keyLimiter, bodyMemory, directory, catalogue },
      ...{ modelStates, health, holds, journal, expiry, fleet, meters },
    },
    opened,
  );
  const originOf = (req: IncomingMessage) => territories.originOf(req.socket.remoteAddress, req.rawHeaders);
  const chats = opened.add(new RunningChats(), (part) => part.over(settleMs));
  const signIns = new SignIns({ store: store.signIn, directory, clock, adminToken, ...dashboardAddress(config) });
  const demoClaim = new DemoClaim({ store, directory, signIns, clock });
  const payments = await openPayments({ config, clock, logger, audit, store, directory, territories }, opened);
  const otherProcesses = await lookForOthers(config, store, logger, opened);
  const listening = { port: config.server.port, started: false };
  const https = config.server.baseUrl?.startsWith('https:') === true;
  const server = await createServer({
    clock,
    logger,
    store,
    directory,
    audit,
    modelStates,
    health,
    holds,
    catalogue: fleet ? toldToAll(catalogue, fleet) : catalogue,
    fleet,
    journal,
    expiry,
    adminToken,
    isStarted: () => listening.started,
    https,
    adminLimiter: new AdminLimiter(counters('admin', { namesMax: exactPeersMax }), clock),
    limits: config.limits,
    originOf,
    territories,
    ipLimiter,
    keyLimiter,
    bodyMemory,
    meters,
    processMeters,
    upstreamConnections: ports.upstreamConnections,
    ...(shared && { sharedState: shared }),
    ...(otherProcesses && { otherProcesses }),
    ...(siblings && { siblings }),
    chat: createChatHandler(ports, { originOf, meters, tracing, https }, chats),
    explain: async (identity, territory, body) =>
      explain(ports, identity, territory, await ports.validator.validate(body)),
    createSignIn: (account, password) => signIns.setPassword(account, password),
    payments,
    dashboard: {
      signIns,
      demoClaim,
      limiter: new GuessLimiter(shared?.buckets ?? new MemoryBuckets(clock)),
      playground: createPlayground(ports, { originOf, meters, tracing, https }, chats),
      ...dashboardSettings(config, () => addressesOf(config, listening.port)),
    },
  });
  let { drainMs } = config.server;
  opened.add(server, (part) => part.close(drainMs));
  const port = await server.listen(config.server.port, config.server.host);
  listening.port = port;
  // Listening comes first: a request that arrives before the snapshot is told so.
  await catalogue.load();
  await expiry.start();
  const addresses = addressesOf(config, port);
  if (config.demo && print) {
    const text = (await prepareDemo({ store, directory, clock }))(addresses);
    if (text !== '') print(text);
  }
  listening.started = true;
  return {
    port,
    baseUrl: localAddress(config, port),
    addresses,
    adminToken,
    directory,
    catalogue,
    store,
    journal,
    figures: () => server.figures(),
    loadTokenizer: ports.loadTokenizer,
    stop: (drainMsMax = drainMs) => {
      drainMs = Math.min(drainMs, drainMsMax);
      return opened.close();
    },
    reportUnsettled: () => void journal.reportUnsettled(writeToStandardError),
  };
}

/** No account is read before what an earlier process left in the journal is in the store: its balance would be too high. */
function replayedOnce(journal: JournalSlot): () => Promise<void> {
  let done = false;
  return async () => {
    done ||= await journal.replayed(replayMs);
    if (!done) throw new StoreUnavailable('settlements of an earlier process still wait in the journal');
  };
}

/** In a fleet a reload is every process's. */
function toldToAll(catalogue: CatalogueHolder, fleet: Fleet): HttpDeps['catalogue'] {
  return {
    get current() {
      return catalogue.current;
    },
    async reload() {
      const outcome = await catalogue.reload();
      if (outcome.ok) await fleet.catalogueChanged();
      return outcome;
    },
  };
}

function sourcesOf({ catalogue, providers }: Config): CatalogueSources {
  return { files: catalogue, providerSettings: providers };
}
