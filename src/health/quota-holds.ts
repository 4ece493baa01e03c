/**
 * Keeps the quota holds of routes. A hold belongs to one UTC day and is in force only on that day, so nothing has to release
 * it at midnight, and changing the clock cannot extend it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../base/logger.js';
import { Pause } from '../base/pause.js';
import { type Clock, startOfUtcDay, utcDay } from '../base/time.js';
import type { Route } from '../catalogue/route.js';
import type { Totals } from '../cluster/ports.js';
import type { HoldReason, HoldRecord, HoldStore } from '../storage/store.js';
import { HoldFiles } from './hold-files.js';
import { HoldWriter } from './hold-writer.js';

export type { HoldReason } from '../storage/store.js';

type QuotaRoute = Pick<Route, 'id' | 'dailyTokenQuota'>;

interface Hold {
  readonly reason: HoldReason;
}

/** The holds and usage of one UTC day. */
interface Day {
  readonly utcDay: number;
  readonly held: Map<string, Hold>;
  /** Routes whose own quota an operator has lifted for the day. */
  readonly lifted: Set<string>;
  /** Prompt and completion tokens used, by route. */
  readonly tokens: Map<string, number>;
}

interface QuotaHoldsDeps {
  store: HoldStore;
  clock: Pick<Clock, 'now'>;
  logger: Logger;
  /** The directory for holds that the store does not have yet. Without it they are only in memory. */
  dir?: string;
  /** In a fleet: notifies the other processes of changes. */
  changed?: () => Promise<void>;
  /** In a fleet: the day's tokens of all processes. */
  totals?: Totals;
}

/** Several days, for answers that began before midnight and for clocks that are set back. */
const daysKept = 8;
/** A request that causes a hold waits at most this long for it to be written while the store or the shared state is away. */
const writtenMs = 300;

export class QuotaHolds {
  private readonly days = new Map<number, Day>();
  private readonly writer: HoldWriter;
  private readonly files: HoldFiles | null;
  private readonly earlier: EarlierTokens;
  /** The number of holds on all days. With none, a request checks nothing else. */
  private holdCount = 0;

  constructor(private readonly deps: QuotaHoldsDeps) {
    const { store, logger, dir, changed = () => Promise.resolve() } = deps;
    this.files = dir === undefined ? null : new HoldFiles(dir, logger);
    this.writer = new HoldWriter(store, logger, changed, this.files);
    this.earlier = new EarlierTokens(deps.store, deps.logger);
  }

  /** Call it before serving and after the journal's replay: holds and used quotas survive a restart. */
  async load(): Promise<void> {
    const { store, clock } = this.deps;
    const now = clock.now();
    const today = utcDay(now);
    for (const record of await store.since(today)) this.takeOver(record);
    for (const record of this.files?.take(today) ?? []) {
      this.takeOver(record);
      void this.writer.later(record);
    }
    this.earlier.sum(today, now, (tokens) => {
      for (const [routeId, count] of tokens) this.earlierTokens(today, routeId, count);
    });
  }

  /** Another process has changed a hold: reads the store again, except for records that this process still has to write. */
  async reload(): Promise<void> {
    const today = utcDay(this.deps.clock.now());
    const records = await this.deps.store.since(today);
    for (const day of this.days.values()) {
      if (day.utcDay < today) continue;
      day.held.clear();
      day.lifted.clear();
    }
    for (const record of records) this.takeOver(record);
    for (const record of this.writer.unwritten) this.takeOver(record);
    this.recount();
  }

  /**
   * Holds the routes whose quota is used up. Call it after `load` and whenever the catalogue may have a new quota. Where any
   * route has a quota, it waits until the usage before this process is known.
   */
  async enforce(routes: Iterable<QuotaRoute>): Promise<void> {
    const limited = [...routes].filter(({ dailyTokenQuota }) => dailyTokenQuota !== null);
    if (limited.length === 0) return;
    await this.earlier.handedOver;
    const today = this.today();
    if (today) for (const route of limited) this.holdIfUsedUp(today, route);
  }

  isHeld(routeId: string): boolean {
    return this.holdCount > 0 && this.today()?.held.has(routeId) === true;
  }

  /** The routes that are held now. */
  heldRoutes(): readonly string[] {
    return this.holdCount === 0 ? [] : [...(this.today()?.held.keys() ?? [])];
  }

  /** The midnight that ends the hold, in epoch milliseconds; null where the route is not held. */
  heldUntil(routeId: string): number | null {
    return this.view(routeId)?.until ?? null;
  }

  view(routeId: string): { until: number; reason: HoldReason } | null {
    const today = this.today();
    const hold = today?.held.get(routeId);
    return today && hold ? { until: startOfUtcDay(today.utcDay + 1), reason: hold.reason } : null;
  }

  /**
   * Takes effect in memory and in a file at once, and in the store as soon as that can be reached. The promise resolves when
   * the store has the hold and the fleet has been notified, so that a client that learns of the hold finds it in every
   * process and after a crash. It does not wait long for either.
   */
  hold(routeId: string, reason: HoldReason): Promise<unknown> | undefined {
    const written = this.holdOn(this.day(utcDay(this.deps.clock.now())), routeId, reason);
    return written && Promise.race([written, pause(writtenMs, undefined, { ref: false })]);
  }

  /**
   * Counts the tokens of a billed answer. They belong to the day on which the generation was created, as in the sum after a
   * restart.
   */
  used(route: QuotaRoute, tokens: number, createdAt: number): void {
    const day = this.day(utcDay(createdAt));
    addTokens(day, route.id, tokens);
    if (route.dailyTokenQuota === null) return;
    this.holdIfUsedUp(day, route);
    void this.deps.totals?.add(totalName(day.utcDay, route.id), tokens).then((total) => {
      if (total === null || total <= (day.tokens.get(route.id) ?? 0)) return;
      day.tokens.set(route.id, total);
      this.holdIfUsedUp(day, route);
    });
  }

  /**
   * Returns false where the route is not held. A lifted quota of the route does not apply again before midnight; the
   * upstream's may.
   */
  async lift(routeId: string): Promise<boolean> {
    const today = this.today();
    const hold = today?.held.get(routeId);
    if (!today || !hold) return false;
    const quotaLifted = hold.reason === 'daily_token_quota' || today.lifted.has(routeId);
    try {
      await this.writer.now({ utcDay: today.utcDay, routeId, reason: null, quotaLifted });
    } catch (error) {
      // Whether the store has the change is unknown, so it is written again until it has.
      this.writer.later(recordOf(today, routeId));
      throw error;
    }
    if (quotaLifted) today.lifted.add(routeId);
    // Meanwhile another call may have lifted the hold and the upstream may have caused a new one.
    if (today.held.get(routeId) === hold) today.held.delete(routeId);
    this.recount();
    this.deps.logger.info({ route: routeId, reason: hold.reason }, 'a quota hold was lifted');
    return true;
  }

  /** Waits for the last writes, up to a bound. */
  close(): Promise<void> {
    this.earlier.close();
    return this.writer.close();
  }

  private takeOver({ utcDay: number, routeId, reason, quotaLifted }: HoldRecord): void {
    const day = this.day(number);
    if (quotaLifted) day.lifted.add(routeId);
    if (reason) this.remember(day, routeId, reason);
    else day.held.delete(routeId);
  }

  private earlierTokens(number: number, routeId: string, count: number): void {
    const day = this.day(number);
    addTokens(day, routeId, count);
    void this.deps.totals?.atLeast(totalName(number, routeId), day.tokens.get(routeId) ?? 0);
  }

  private holdIfUsedUp(day: Day, { id, dailyTokenQuota }: QuotaRoute): void {
    if (dailyTokenQuota === null || day.lifted.has(id)) return;
    if ((day.tokens.get(id) ?? 0) >= dailyTokenQuota) this.holdOn(day, id, 'daily_token_quota');
  }

  private holdOn(day: Day, routeId: string, reason: HoldReason): Promise<unknown> | undefined {
    if (day.held.has(routeId)) return undefined;
    this.remember(day, routeId, reason);
    const until = new Date(startOfUtcDay(day.utcDay + 1)).toISOString();
    this.deps.logger.warn({ route: routeId, reason, until }, 'a route is quota-held');
    return this.writer.later(recordOf(day, routeId));
  }

  private remember(day: Day, routeId: string, reason: HoldReason): void {
    day.held.set(routeId, { reason });
    this.recount();
  }

  private today(): Day | undefined {
    return this.days.get(utcDay(this.deps.clock.now()));
  }

  private day(number: number): Day {
    const known = this.days.get(number);
    if (known) return known;
    const day: Day = { utcDay: number, held: new Map(), lifted: new Set(), tokens: new Map() };
    this.days.set(number, day);
    if (this.days.size > daysKept) this.forgetOldest();
    return day;
  }

  private forgetOldest(): void {
    const [oldest] = this.days.values();
    if (!oldest) return;
    this.days.delete(oldest.utcDay);
    this.recount();
  }

  private recount(): void {
    this.holdCount = 0;
    for (const { held } of this.days.values()) this.holdCount += held.size;
  }
}

function addTokens({ tokens }: Day, routeId: string, count: number): void {
  tokens.set(routeId, (tokens.get(routeId) ?? 0) + count);
}

const totalName = (number: number, routeId: string): string => `quota:${number}:${routeId}`;

function recordOf({ utcDay: number, held, lifted }: Day, routeId: string): HoldRecord {
  return { utcDay: number, routeId, reason: held.get(routeId)?.reason ?? null, quotaLifted: lifted.has(routeId) };
}

const retryMs = 1_000;

/**
 * Sums up what earlier processes have used of the routes' quotas today. It runs once, in the background, because millions of
 * generations take seconds (measured: 3.5 s for two million), and a start without quotas must not wait for it.
 */
class EarlierTokens {
  private readonly pause = new Pause();
  private summing: Promise<void> = Promise.resolve();
  private closing = false;

  constructor(
    private readonly store: Pick<HoldStore, 'tokensBetween'>,
    private readonly logger: Logger,
  ) {}

  /** Calls `take` with the tokens that each route used on the day before that moment. */
  sum(utcDay: number, beforeMs: number, take: (tokens: ReadonlyMap<string, number>) => void): void {
    this.summing = this.untilDone(utcDay, beforeMs, take);
  }

  /** Resolves when the tokens have been handed over. */
  get handedOver(): Promise<void> {
    return this.summing;
  }

  close(): void {
    this.closing = true;
    this.pause.end();
  }

  private async untilDone(utcDay: number, beforeMs: number, take: (tokens: ReadonlyMap<string, number>) => void) {
    while (!this.closing) {
      try {
        take(await this.store.tokensBetween(startOfUtcDay(utcDay), beforeMs));
        return;
      } catch (error) {
        if (this.closing) return;
        this.logger.warn({ error: String(error) }, 'the tokens used today cannot be summed up; trying again');
        await this.pause.wait(retryMs);
      }
    }
  }
}
