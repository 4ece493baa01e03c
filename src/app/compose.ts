/** Starts the gateway: opens its parts in order and closes them in the opposite order. Only `src/app` names concrete classes. */
import { join } from 'node:path';
import { AuditLog } from '../accounts/audit.js';
import { AccountDirectory } from '../accounts/directory.js';
import { ExpirySweeper } from '../accounts/keys/expiry-sweeper.js';
import { GuessLimiter } from '../accounts/sign-in/guess-limiter.js';
import { createLogger } from '../base/logger.js';
import { makePrivateDirectory } from '../base/private-directory.js';
import { systemClock } from '../base/time.js';
import { version } from '../base/version.js';
import { retiringRoutes } from '../catalogue/retirement.js';
import { anyDoor } from '../doors/any-door.js';
import { ModelStates } from '../health/model-states.js';
import { QuotaHolds } from '../health/quota-holds.js';
import { createChatHandlers, createPlayground, RunningChats } from '../http/chat/handler.js';
import type { HttpDeps } from '../http/deps.js';
import { createServer } from '../http/server/server.js';
import { openJournalSlot, writeToStandardError } from '../journal/journal-slots.js';
import { AdminLimiter } from '../limits/admin-limiter.js';
import { BodyMemory } from '../limits/body-memory.js';
import { exactPeersMax, IpLimiter, KeyLimiter } from '../limits/rate-limits.js';
import { Meters } from '../observability/metrics/meters.js';
import { ProcessMeters } from '../observability/metrics/process-meters.js';
import { explain } from '../pipeline/explain.js';
import { freeLargeParts } from '../pipeline/validate.js';
import { KeyPool } from '../providers/credentials/key-pool.js';
import { StoreUnavailable } from '../storage/store.js';
import { Territories } from '../territory/territories.js';
import { AccessTokens } from './access-tokens.js';
import { addressesOf, localAddress } from './addresses.js';
import { dashboardSettings } from './dashboard-settings.js';
import { prepareDemo } from './demo.js';
import { openDeployment } from './deployment.js';
import type { Gateway, GatewayOptions } from './gateway.js';
import { openCatalogue } from './open-catalogue.js';
import { openOwnCredentials } from './open-own-credentials.js';
import { bothOpen, OpenParts } from './open-parts.js';
import { openSpendHolds } from './open-spend-holds.js';
import { openSwitch } from './open-switch.js';
import { openTokenExchange } from './open-token-exchange.js';
import { openPayments, startNotices, startTracing } from './optional-parts.js';
import { pipelinePorts, routeHolds } from './pipeline-ports.js';
import { openProof } from './proof.js';
import { retentionOf } from './record-keeper.js';
import { replayedOnce, replayMs } from './replayed.js';
import { openRouteRecords } from './route-records.js';
import { openSettlement } from './settlement.js';
import { openSignIn } from './sign-in-parts.js';
import { openStorage } from './storage.js';
import { warmUp } from './warm-up.js';

/** Time after the drain for requests that were cut off to be counted and settled. */
const settleMs = 10_000;

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const parts = new OpenParts();
  try {
    return await start(options, parts);
  } catch (error) {
    // A failure to close would hide the failure that stopped the start.
    await parts.close().catch(() => {});
    throw error;
  }
}

async function start(options: GatewayOptions, parts: OpenParts): Promise<Gateway> {
  const { config, clock = systemClock, logger = createLogger(), env = process.env } = options;

  // What watches the process and what every request is checked against.
  const tokens = new AccessTokens(config, logger);
  const meters = new Meters();
  const processMeters = parts.add(new ProcessMeters(), (part) => part.stop());
  const tracing = await startTracing(env, logger, parts);
  // PostgreSQL starts in a process of its own. What needs no store is loaded meanwhile.
  makePrivateDirectory(config.storage.dataDir);
  const [{ store, connection }, territories] = await bothOpen(
    openStorage(config, logger, parts, options.storeConnection),
    Territories.open(config, logger),
  );
  const originOf: HttpDeps['originOf'] = (request) => territories.originOf(request.socket.remoteAddress, request);
  const bodyMemory = parts.add(new BodyMemory({ bytesMax: config.server.bodyMemoryMaxBytes }), (part) => part.close());

  // Durable state, and what is shared with other processes.
  const deployment = parts.add(
    await openDeployment({
      ...{ config, store, clock, logger },
      replayed: () => replayed(),
      settled: async () => {
        if (!(await journal.settled(replayMs))) throw new StoreUnavailable('settlements still wait in the journal');
      },
      readStates: async () => void (await Promise.all([modelStates.load(), holds.reload(), switching.load()])),
      readCatalogue: () => catalogueParts.follow(),
    }),
    (part) => part.close(),
  );
  const { settlement: place = 'here' } = options;
  const { settler, openSealer } = openSettlement(
    { place, config, store, clock, logger, deployment, connection },
    parts,
  );
  const journal = parts.add(
    await openJournalSlot({
      dataDir: config.storage.dataDir,
      shared: config.storage.redisUrl !== null,
      sharesStoreDisk: config.storage.databaseUrl === null,
      ...{ settler, logger, sync: config.journal.sync },
      settleDirectly: (rows) => deployment.settle(rows, []),
    }),
    (part) => part.close(),
  );
  const replayed = replayedOnce(journal);

  // Accounts and limits.
  const audit = new AuditLog(store.audit, clock, logger);
  const { identities } = deployment;
  const directory = parts.add(new AccountDirectory({ store, clock, logger, audit, replayed, identities }), (part) =>
    part.close(),
  );
  const peerOptions = { namesMax: exactPeersMax };
  const ipLimiter = new IpLimiter(config.limits.ipRequestsPerMinute, deployment.counters('ip', peerOptions));
  const keyLimiter = new KeyLimiter(config.limits, deployment.counters('requests'), deployment.counters('tokens'));
  const { overdraft } = config.billing;
  const spend = openSpendHolds({ store, journal, clock, logger, redis: deployment.spend, overdraft }, parts);
  const adminLimiter = new AdminLimiter(deployment.counters('admin', peerOptions), clock);

  // The health of models and routes, and the catalogue.
  const announceStates = () => deployment.announceStates();
  const modelStates = new ModelStates(store.availability, announceStates);
  const guesses = deployment.counters('guesses', peerOptions);
  const switching = openSwitch({ store, announce: announceStates, guesses, logger });
  const { names, brought, readNames } = switching;
  const holds = parts.add(
    new QuotaHolds({
      ...{ store: store.holds, clock, logger, changed: announceStates, totals: deployment.totals },
      dir: join(config.storage.dataDir, 'holds'),
    }),
    (part) => part.close(),
  );
  await deployment.start(async () => {
    await Promise.all([modelStates.load(), switching.load()]);
    // The tokens that an earlier process used today count against a route's daily quota too.
    await journal.replayed(replayMs);
    await holds.load();
  });
  const providerKeys = new KeyPool({ clock, logger });
  const heldRoutes = routeHolds(holds, providerKeys);
  const records = openRouteRecords({ config, store, clock, logger, holds }, parts);
  const { health, routeHistory, routeStatus, routeDays } = records;
  const { catalogue, updates, reload, ...catalogueParts } = openCatalogue(
    {
      ...{ config, env, clock, logger, store, audit, tokens, rereadConfig: options.rereadConfig },
      onLoad: async (snapshot) => {
        const known = new Set(snapshot.routes.keys());
        health.forget(known);
        meters.forget(known);
        providerKeys.load(snapshot);
        await holds.enforce(snapshot.routes.values());
        await records.recorder.record(snapshot);
      },
      ...{ readNames, announce: () => deployment.announceCatalogue() },
    },
    parts,
  );

  // The request path.
  const listening = { port: config.server.port, started: false };
  const base = () => addressesOf(config, listening.port).base;
  const proof = openProof({ config, store, clock, logger, base, sealer: openSealer() });
  const own = await openOwnCredentials({ config, store, directory, clock, logger, ports: () => ports }, parts);
  const expiry = parts.add(new ExpirySweeper(directory, clock, logger), (part) => part.stop());
  const exchange = openTokenExchange({
    ...{ config, env, store, clock, audit, directory, deployment, base },
    noteNewKey: (expiresAt) => expiry.noteNewKey(expiresAt),
  });
  const ports = pipelinePorts(
    {
      ...{ config, env, clock, logger, territories, ipLimiter, keyLimiter, bodyMemory, directory, catalogue },
      ...{ modelStates, health, holds: heldRoutes, providerKeys, journal, expiry, meters, spend, routeHistory },
      ...{ conversations: deployment.conversations, proof: proof.pipeline, names, brought, own: own.candidates },
      ...{ admission: deployment.admission, fleet: deployment.fleet },
    },
    parts,
  );
  const chats = parts.add(new RunningChats(), (part) => part.over(settleMs));
  const https = config.server.baseUrl?.startsWith('https:') === true;
  const chatOptions = { territories, meters, tracing, https };

  // The dashboard and payments.
  const dashboardUrl = () => addressesOf(config, listening.port).dashboard;
  const { members, invitations, ...signInParts } = openSignIn(
    { config, store, directory, audit, clock, logger, tokens, dashboardUrl, env },
    parts,
  );
  const retiring = () => retiringRoutes(catalogue.current, clock.now());
  const noticeTests = await startNotices({ config, clock, logger, store, retiring }, parts);
  const payments = await openPayments({ config, clock, logger, audit, directory, territories });

  const retention = retentionOf(config);

  // The server.
  const server = await createServer({
    ...{ clock, logger, store, directory, audit, modelStates, health, journal, expiry, deployment, spend },
    ...{ holds: heldRoutes, providerKeys },
    ...{
      exchange,
      members,
      invitations,
      retention,
      tokens,
      routeStatus,
      routeDays,
      noticeTests,
      statusIsPublic: config.status.isPublic,
      proof: proof.http,
    },
    ...{ adminLimiter, ipLimiter, keyLimiter, bodyMemory, territories, originOf, https, payments },
    ...{ meters, processMeters, upstreamConnections: ports.upstreamConnections },
    ...(options.siblings && { siblings: options.siblings }),
    limits: config.limits,
    credentials: own.http,
    catalogue: {
      get current() {
        return catalogue.current;
      },
      reload: catalogueParts.reloadAll,
    },
    ...{ catalogueUpdates: updates, names, brought, isOpenRouter: config.compat.openRouter },
    isStarted: () => listening.started,
    ...createChatHandlers(ports, chatOptions, chats),
    explain: async (identity, territory, body, header = () => undefined) => {
      const request = await ports.validator.validate(anyDoor, body);
      return explain(ports, { identity, territory, header, request }).finally(() => freeLargeParts(request));
    },
    createSignIn: (account, password) => signInParts.dashboard.signIns.setPassword(account, password),
    dashboard: {
      ...{ ...signInParts.dashboard, version, ...dashboardSettings(config) },
      limiter: new GuessLimiter(deployment.buckets),
      playground: createPlayground(ports, chatOptions, chats),
      addresses: () => addressesOf(config, listening.port),
    },
  });
  let { drainMs } = config.server;
  parts.add(server, (part) => part.close(drainMs));

  // The process listens before it loads the catalogue: a request that arrives earlier gets a 503 instead of a refused connection.
  const port = await server.listen(config.server.port, config.server.host);
  listening.port = port;
  await catalogueParts.load();
  await Promise.all([expiry.start(), proof.begun, signInParts.dashboard.singleSignOn.check()]);
  const addresses = addressesOf(config, port);
  if (config.demo && options.print) {
    const text = (await prepareDemo({ store, directory, clock }))(addresses);
    if (text !== '') options.print(text);
  }
  listening.started = true;

  return {
    ...{ port, addresses, directory, store },
    baseUrl: localAddress(config, port),
    figures: () => server.figures(),
    reload: async (alone = false) => {
      await reload();
      if (!alone) await deployment.announceCatalogue();
    },
    warmUp: () => void warmUp(ports, store),
    stop: (drainMsMax = drainMs) => {
      drainMs = Math.min(drainMs, drainMsMax);
      return parts.close();
    },
    reportUnsettled: () => void journal.reportUnsettled(writeToStandardError),
  };
}
