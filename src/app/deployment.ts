/**
 * How this process works together with others that serve the same accounts. There are two deployments behind one interface: a
 * single process, which keeps everything in its own memory, and a fleet, whose processes share state through Redis.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Identities } from '../accounts/identities.js';
import { IdentityCache } from '../accounts/identity-cache.js';
import type { Logger } from '../base/logger.js';
import type { Clock } from '../base/time.js';
import { MemoryConversations } from '../cluster/conversations.js';
import { MemoryBuckets, MemoryCounters, type MemoryCountersOptions } from '../cluster/memory.js';
import type { Buckets, Conversations, Counters, Totals } from '../cluster/ports.js';
import type { SharedState } from '../cluster/redis/open-shared-state.js';
import type { RedisSpending } from '../cluster/shared-spend.js';
import type { Config } from '../config/config.js';
import type { JournalOffset, SettlementRow } from '../domain/settlement-row.js';
import { Fleet, type SettlementOutcome } from '../fleet/fleet.js';
import type { HttpDeps } from '../http/deps.js';
import type { Figures } from '../observability/metrics/figures.js';
import { fleetAdmission } from '../pipeline/admit/fleet-admission.js';
import { localAdmission } from '../pipeline/admit.js';
import type { Admission, PipelinePorts } from '../pipeline/ports.js';
import type { Store } from '../storage/store.js';

export interface Deployment extends Readonly<HttpDeps['deployment']> {
  counters(family: string, options?: MemoryCountersOptions): Counters;
  readonly buckets: Buckets;
  /** The routes of conversations; null where requests do not stay with a route. */
  readonly conversations: Conversations | null;
  /** Sums over all processes; undefined where the sums of this process are complete. */
  readonly totals: Totals | undefined;
  /** What all processes have spent and hold; null where this process is the only one. */
  readonly spend: RedisSpending | null;
  readonly identities: Identities;
  /** What the request path asks the other processes; null where there are none. */
  readonly admission: Admission;
  readonly fleet: PipelinePorts['fleet'];
  /** Writes the records that the settler hands over, and notes how far the journals are settled. */
  settle(rows: readonly SettlementRow[], offsets: readonly JournalOffset[]): Promise<void>;
  /**
   * The settler, in a process of its own, is about to send rows of this one to the store. Returns what is to be called with how that ended.
   * null where nobody has to know.
   */
  readonly settling: ((rows: readonly SettlementRow[]) => (outcome: SettlementOutcome) => Promise<void>) | null;
  /** Resolves when every process acts on the model states and quota holds that are now in the store. */
  announceStates(): Promise<void>;
  /** Resolves when every process knows that the catalogue's files have changed. */
  announceCatalogue(): Promise<void>;
  /** Loads the model states and quota holds for the first time, and follows the changes of other processes from then on. */
  start(loadStates: () => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

export interface DeploymentDeps {
  config: Config;
  store: Store;
  clock: Clock;
  logger: Logger;
  /** Resolves once the records that an earlier process left in the journal are in the store. */
  replayed: () => Promise<void>;
  /** Resolves once every charge so far is in the store; rejects with StoreUnavailable while the store is away. */
  settled: () => Promise<void>;
  /** Reads the model states and quota holds from the store. */
  readStates: () => Promise<void>;
  /** Reads the catalogue's files again. */
  readCatalogue: () => Promise<unknown>;
}

export async function openDeployment(deps: DeploymentDeps): Promise<Deployment> {
  const { redisUrl, redisTimeoutMs } = deps.config.storage;
  if (redisUrl === null) return new SingleProcess(deps);
  // Loaded here, because a single process needs no Redis client.
  const { openSharedState } = await import('../cluster/redis/open-shared-state.js');
  return new FleetProcess(deps, await openSharedState({ ...deps, redisUrl, timeoutMs: redisTimeoutMs }));
}

const notAlone =
  'another process serves from the same database, and this one has no storage.redis_url to share its memory through: keys deleted, limits counted and balances used up at one are not seen by the other. Set storage.redis_url for all of them, or run one';

function memoryConversations({ config, clock }: DeploymentDeps): MemoryConversations | null {
  return config.routing.sticky ? new MemoryConversations(clock, config.routing.stickyTtlMs) : null;
}

class SingleProcess implements Deployment {
  readonly buckets: Buckets;
  readonly conversations: Conversations | null;
  readonly totals = undefined;
  readonly spend = null;
  readonly identities: Identities;
  readonly admission = localAdmission;
  readonly fleet = null;
  readonly settling = null;
  private otherProcessSeen = false;
  private watch: { close(): Promise<void> } | undefined;

  constructor(private readonly deps: DeploymentDeps) {
    this.buckets = new MemoryBuckets(deps.clock);
    this.conversations = memoryConversations(deps);
    this.identities = new IdentityCache(deps.store, deps.replayed);
  }

  counters(_family: string, options?: MemoryCountersOptions): Counters {
    return new MemoryCounters(this.deps.clock, options);
  }

  settle(rows: readonly SettlementRow[], offsets: readonly JournalOffset[]): Promise<void> {
    return this.deps.store.ledger.settle(rows, offsets);
  }

  async announceStates(): Promise<void> {}

  async announceCatalogue(): Promise<void> {}

  async start(loadStates: () => Promise<void>): Promise<void> {
    await loadStates();
    await this.watchForOthers();
  }

  refreshStates(): undefined {}

  async findSettledElsewhere(): Promise<null> {
    return null;
  }

  degraded(): string[] {
    return this.otherProcessSeen ? ['redis_url'] : [];
  }

  figures(): Figures {
    return {};
  }

  async close(): Promise<void> {
    await this.watch?.close();
  }

  /** The embedded store allows one process. An external PostgreSQL does not stop a second one, so a warning says so (docs/decisions/0022). */
  private async watchForOthers(): Promise<void> {
    const { config, store, logger } = this.deps;
    if (config.storage.databaseUrl === null) return;
    this.watch = await store.otherProcesses.watch((seen) => {
      if (seen && !this.otherProcessSeen) logger.warn({}, notAlone);
      this.otherProcessSeen = seen;
    });
  }
}

/** Every process of a fleet settles four times a second; these pauses together are a little longer than that. */
const settledElsewhereMs = [50, 100, 250];

class FleetProcess implements Deployment {
  readonly buckets: Buckets;
  readonly conversations: Conversations | null;
  readonly totals: Totals;
  readonly spend: RedisSpending;
  readonly admission: Admission;
  readonly fleet: Fleet;

  constructor(
    deps: DeploymentDeps,
    private readonly shared: SharedState,
  ) {
    this.buckets = shared.buckets;
    const local = memoryConversations(deps);
    this.conversations = local && shared.conversations(local, deps.config.routing.stickyTtlMs);
    this.totals = shared.totals;
    this.spend = shared.spend;
    this.fleet = new Fleet({ ...deps, versions: shared.versions, admission: shared.admission });
    this.admission = fleetAdmission(this.fleet);
  }

  get identities(): Identities {
    return this.fleet.identities;
  }

  counters(family: string, options?: MemoryCountersOptions): Counters {
    return this.shared.counters(family, options);
  }

  settle(rows: readonly SettlementRow[], offsets: readonly JournalOffset[]): Promise<void> {
    return this.fleet.settle(rows, offsets);
  }

  readonly settling = (rows: readonly SettlementRow[]) => this.fleet.settling(rows);

  announceStates(): Promise<void> {
    return this.fleet.changed('states');
  }

  announceCatalogue(): Promise<void> {
    return this.fleet.catalogueChanged();
  }

  async start(loadStates: () => Promise<void>): Promise<void> {
    await this.fleet.listen();
    await this.fleet.states.loadFirst(loadStates);
  }

  refreshStates(): Promise<void> | undefined {
    return this.fleet.states.now();
  }

  findSettledElsewhere<T>(find: () => Promise<T | null>): Promise<T | null> {
    return findRepeatedly(find);
  }

  degraded(): string[] {
    return this.shared.up ? [] : ['redis'];
  }

  figures(): Figures {
    const { up, fallbacks } = this.shared;
    return {
      lodestone_redis_up: [{ labels: [], value: up ? 1 : 0 }],
      lodestone_redis_fallbacks_total: [{ labels: [], value: fallbacks }],
    };
  }

  async close(): Promise<void> {
    await this.fleet.close();
    await this.shared.close();
  }
}

/** Finds a record that another process is about to settle. */
export async function findRepeatedly<T>(find: () => Promise<T | null>): Promise<T | null> {
  for (const ms of settledElsewhereMs) {
    await pause(ms);
    const found = await find();
    if (found) return found;
  }
  return null;
}
