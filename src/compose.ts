/** The only file that names concrete classes: puts the parts together and takes them apart again, in order. */
import type { IncomingMessage } from 'node:http';
import { AuditLog } from './accounts/audit.js';
import { AccountDirectory } from './accounts/directory.js';
import { ExpirySweeper } from './accounts/keys/expiry-sweeper.js';
import { DemoClaim } from './accounts/sign-in/demo-claim.js';
import { GuessLimiter } from './accounts/sign-in/guess-limiter.js';
import { SignIns } from './accounts/sign-in/sign-ins.js';
import { adminTokenOf } from './admin-token.js';
import { type Clock, systemClock } from './base/clock.js';
import { createLogger, type Logger } from './base/logger.js';
import { TokenCounter } from './billing/count/counter.js';
import { type Journal, openJournal } from './billing/journal.js';
import { CatalogueHolder, type CatalogueSources } from './catalogue/holder.js';
import { type Addresses, addressesOf, localAddress } from './compose/addresses.js';
import { dashboardAddress, dashboardSettings } from './compose/dashboard.js';
import { Opened } from './compose/opened.js';
import { openStorage } from './compose/storage.js';
import type { Config } from './config/config.js';
import { ModelStates } from './health/model-states.js';
import { QuotaHolds } from './health/quota-holds.js';
import { RouteHealth } from './health/route-health.js';
import { createChatHandler, createPlayground } from './http/chat/handler.js';
import { RunningChats } from './http/chat/running-chats.js';
import { createServer } from './http/server.js';
import { exactPeersMax, IpLimiter } from './limits/ip-limiter.js';
import { KeyLimiter } from './limits/key-limiter.js';
import { explain } from './pipeline/explain.js';
import type { PipelinePorts } from './pipeline/handover.js';
import { Validator } from './pipeline/validate.js';
import { MemoryCounters } from './shared-state/memory-counters.js';
import { type Store, StoreUnavailable } from './storage/store.js';
import { Territories } from './territory/territories.js';
import { spokenDialects } from './upstream/adapters/registry.js';
import { AnswerReader } from './upstream/answer-reader.js';
import { ProviderCredentials } from './upstream/credentials/provider-credentials.js';
import { Deadlines } from './upstream/deadlines.js';
import { HttpTransport } from './upstream/http-transport.js';
import { RequestWriter } from './upstream/request-writer.js';
import { createSandbox } from './upstream/sandbox/sandbox.js';

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
}

export interface Gateway {
  readonly port: number;
  readonly baseUrl: string;
  readonly addresses: Addresses;
  readonly adminToken: string;
  readonly directory: AccountDirectory;
  readonly catalogue: CatalogueHolder;
  readonly store: Store;
  readonly demoClaim: DemoClaim;
  /** Refuses new work, lets answers finish within the drain time, settles everything. */
  stop(): Promise<void>;
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
  { config, clock = systemClock, logger = createLogger(), env = process.env, rereadConfig }: GatewayOptions,
  opened: Opened,
): Promise<Gateway> {
  const adminToken = adminTokenOf(config);
  const territories = await Territories.open(config, logger);
  const ipLimiter = new IpLimiter(
    config.limits.ipRequestsPerMinute,
    new MemoryCounters(clock, { namesMax: exactPeersMax }),
  );
  const keyLimiter = new KeyLimiter(config.limits, new MemoryCounters(clock), new MemoryCounters(clock));
  const store = await openStorage(config, logger, opened);
  const settle = (batch: Parameters<Store['ledger']['settle']>[0]) => store.ledger.settle(batch);
  const journal = opened.add(
    await openJournal({ dir: `${config.storage.dataDir}/journal`, settle, clock, logger }),
    (part) => part.close(),
  );
  const audit = new AuditLog(store.audit, clock, logger);
  const directory = new AccountDirectory({ store, clock, audit, replayed: replayedOnce(journal) });
  const modelStates = new ModelStates(store.availability);
  await modelStates.load();
  const holds = opened.add(new QuotaHolds({ store: store.holds, clock, logger }), (part) => part.close());
  // Today's tokens of an earlier process count against a route's daily quota too.
  await journal.settled(replayMs);
  await holds.load();
  const health = new RouteHealth(clock, { ...config.breaker, probeMaxMs: config.timeouts.overallMs + probeGraceMs });
  const catalogue = new CatalogueHolder({
    ...sourcesOf(config),
    ...(rereadConfig && { reread: () => sourcesOf(rereadConfig()) }),
    ...{ env, clock, logger, dialects: spokenDialects },
    onLoad: ({ routes }) => {
      health.forget(new Set(routes.keys()));
      return holds.enforce(routes.values());
    },
  });
  const expiry = opened.add(new ExpirySweeper(directory, clock, logger), (part) => part.stop());
  const ports = pipelinePorts(
    {
      ...{ config, env, clock, logger, territories, ipLimiter, keyLimiter, directory, catalogue },
      ...{ modelStates, health, holds, journal, expiry },
    },
    opened,
  );
  const originOf = (req: IncomingMessage) => territories.originOf(req.socket.remoteAddress, req.rawHeaders);
  const chats = opened.add(new RunningChats(), (part) => part.over(settleMs));
  const signIns = new SignIns({ store: store.signIn, directory, clock, ...dashboardAddress(config) });
  const demoClaim = new DemoClaim({ store, directory, signIns, clock });
  const listening = { port: config.server.port };
  const server = await createServer({
    clock,
    logger,
    store,
    directory,
    audit,
    modelStates,
    health,
    holds,
    catalogue,
    journal,
    expiry,
    adminToken,
    limits: config.limits,
    originOf,
    territories,
    ipLimiter,
    keyLimiter,
    chat: createChatHandler(ports, { originOf }, chats),
    explain: async (identity, territory, body) =>
      explain(ports, identity, territory, await ports.validator.validate(body)),
    createSignIn: (account, password) => signIns.setPassword(account, password),
    dashboard: {
      ...{
        signIns,
        demoClaim,
        limiter: new GuessLimiter(clock),
        playground: createPlayground(ports, { originOf }, chats),
      },
      ...dashboardSettings(config, () => addressesOf(config, listening.port)),
    },
  });
  opened.add(server, (part) => part.close(config.server.drainMs));
  const port = await server.listen(config.server.port, config.server.host);
  listening.port = port;
  // Listening comes first: a request that arrives before the snapshot is told so (§7.1, service_unavailable).
  await catalogue.load();
  await expiry.start();
  const addresses = addressesOf(config, port);
  return {
    port,
    baseUrl: localAddress(config, port),
    addresses,
    adminToken,
    directory,
    catalogue,
    store,
    demoClaim,
    stop: () => opened.close(),
  };
}

/** No account is read before what an earlier process left in the journal is in the store: its balance would be too high. */
function replayedOnce(journal: Journal): () => Promise<void> {
  let done = false;
  return async () => {
    done ||= await journal.settled(replayMs);
    if (!done) throw new StoreUnavailable('settlements of an earlier process still wait in the journal');
  };
}

function sourcesOf({ catalogue, providers }: Config): CatalogueSources {
  return { files: catalogue, providerSettings: providers };
}

interface Parts {
  config: Config;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  logger: Logger;
  territories: Territories;
  ipLimiter: IpLimiter;
  keyLimiter: KeyLimiter;
  directory: AccountDirectory;
  catalogue: CatalogueHolder;
  modelStates: ModelStates;
  health: RouteHealth;
  holds: QuotaHolds;
  journal: Journal;
  expiry: ExpirySweeper;
}

function pipelinePorts(parts: Parts, opened: Opened): PipelinePorts {
  const { config, clock, expiry } = parts;
  const http = opened.add(new HttpTransport(() => clock.monotonicMs()), (part) => part.close());
  const sandbox = opened.add(createSandbox({ clock }), (part) => part.close());
  return {
    ...parts,
    expiredKeySeen: () => expiry.seen(),
    timeouts: config.timeouts,
    deadlines: new Deadlines(clock),
    validator: opened.add(new Validator(), (part) => part.close()),
    requests: opened.add(new RequestWriter(), (part) => part.close()),
    answers: opened.add(new AnswerReader(), (part) => part.close()),
    counter: opened.add(new TokenCounter(), (part) => part.close()),
    credentials: new ProviderCredentials({ clock, env: parts.env, logger: parts.logger }),
    transportOf: ({ provider }) => (provider.dialect === 'sandbox' ? sandbox : http),
  };
}
