/**
 * Chooses among several credentials of one provider: by their weights and what runs with each, without those that the provider limits
 * or refuses. What it knows is this process's own.
 */
import type { Logger } from '../../base/logger.js';
import type { KeyView, ProviderKey } from '../../base/provider-key.js';
import { type Clock, nextMidnightUtc, utcDay } from '../../base/time.js';
import type { Provider, Route, Snapshot } from '../../catalogue/route.js';
import { type Failure, refusesCredential } from '../classify/failure.js';

/** Whether a call of a route takes one of several keys of the operator. */
export function usesKeys({ provider, credential }: Route): boolean {
  return provider.keys !== undefined && credential === undefined;
}

interface KeyPoolPorts {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A key for one attempt. `end` has to be called once, whatever becomes of the attempt. */
export interface TakenKey {
  readonly key: ProviderKey;
  /** Returns true where the failure is the key's alone, so that another one may serve. */
  end(outcome: Failure | 'served' | 'neither'): boolean;
}

/** What keeps all keys for a route from being used: limits that end, daily quotas, or refusals. null where one may be used. */
type KeyObstacle = 'limited' | 'spent' | 'refused' | null;

interface Hold {
  readonly kind: 'limited' | 'spent';
  /** Monotonic; infinite where the hold ends with its day. */
  readonly untilMs: number;
  /** The UTC day that it belongs to; null where it is of a stated length. */
  readonly day: number | null;
}

interface KeyState {
  readonly key: ProviderKey;
  readonly providerId: string;
  running: number;
  /** Calls so far. */
  calls: number;
  /** Calls for its weight. What it missed while it was held is not made up for. */
  turn: number;
  /** It was held, refused or unknown, so its turn has to catch up. */
  wasAway: boolean;
  hold: Hold | null;
  /** How often it has been held. */
  holds: number;
  /** How long the next hold without a stated time is. */
  nextHoldMs: number;
  refused: boolean;
}

const firstHoldMs = 10_000;
const longestHoldMs = 60_000;

export class KeyPool {
  /** By provider id, then by the key's name. */
  private states = new Map<string, Map<string, KeyState>>();
  /** Providers with keys, as each route has them. */
  private byRoute = new Map<string, Provider>();
  /** Whether any key has ever been held or refused since the last reload. */
  private isTroubled = false;

  constructor(private readonly ports: KeyPoolPorts) {}

  /** Call it with each snapshot: refusals end with a reload, holds do not, and a key with another secret is another key. */
  load({ providers, routes }: Pick<Snapshot, 'providers' | 'routes'>): void {
    const before = this.states;
    this.states = new Map();
    for (const { id, keys = [] } of providers.values()) {
      for (const key of keys) this.addState(id, key, before.get(id)?.get(key.name));
    }
    this.byRoute = new Map();
    for (const { id, provider } of routes.values()) if (provider.keys) this.byRoute.set(id, provider);
    this.isTroubled = this.allStates().some(({ hold }) => hold !== null);
  }

  /** null where every key is held, refused or among those that were tried. */
  take(provider: Provider, tried: readonly ProviderKey[] = []): TakenKey | null {
    const usable = this.statesOf(provider).filter((state) => this.isUsable(state) && !tried.includes(state.key));
    if (usable.length === 0) return null;
    catchUp(usable);
    const state = chosenOf(usable);
    state.running++;
    state.calls++;
    state.turn += 1 / state.key.weight;
    const holdsBefore = state.holds;
    return {
      key: state.key,
      end: (outcome) => {
        state.running--;
        return this.learn(state, outcome, holdsBefore);
      },
    };
  }

  obstacleOf(provider: Provider): KeyObstacle {
    if (!this.isTroubled) return null;
    const states = this.statesOf(provider);
    if (states.some((state) => this.isUsable(state))) return null;
    if (states.some(({ hold, refused }) => !refused && hold?.kind === 'limited')) return 'limited';
    return states.some(({ refused }) => !refused) ? 'spent' : 'refused';
  }

  /** How long until the first of a provider's keys may be used again; null where none is held. */
  waitMs(provider: Provider): number | null {
    const waits = this.statesOf(provider).flatMap((state) => (state.refused ? [] : (this.heldMs(state) ?? [])));
    return waits.length === 0 ? null : Math.min(...waits);
  }

  /** The end of the quotas that hold all keys for a route, in epoch milliseconds; null where one may be used, or they end sooner. */
  spentUntil(routeId: string): number | null {
    if (!this.isTroubled) return null;
    const provider = this.byRoute.get(routeId);
    if (provider === undefined || this.obstacleOf(provider) !== 'spent') return null;
    return this.ports.clock.now() + this.waitMs(provider)!;
  }

  /** Ends the quota holds of the keys for a route; false where there are none. */
  lift(routeId: string): boolean {
    const provider = this.byRoute.get(routeId);
    const held = provider ? this.statesOf(provider).filter(({ hold }) => hold?.kind === 'spent') : [];
    for (const state of held) state.hold = null;
    return held.length > 0;
  }

  /** What operators see of a provider's keys. */
  viewsOf(provider: Provider): KeyView[] {
    return this.statesOf(provider).map((state) => this.viewOf(state));
  }

  views(): KeyView[] {
    return this.allStates().map((state) => this.viewOf(state));
  }

  private viewOf(state: KeyState): KeyView {
    const { key, providerId, running, calls, hold, refused } = state;
    const heldMs = this.heldMs(state);
    return {
      ...{ provider: providerId, name: key.name, weight: key.weight, models: key.models, running, calls },
      state: refused ? 'refused' : heldMs === null ? 'ready' : 'held',
      held: refused || heldMs === null ? null : { until: this.ports.clock.now() + heldMs, reason: hold!.kind },
    };
  }

  private allStates(): KeyState[] {
    return [...this.states.values()].flatMap((ofProvider) => [...ofProvider.values()]);
  }

  private statesOf({ id, keys = [] }: Provider): KeyState[] {
    // A request may still use a snapshot whose keys are gone.
    return keys.map((key) => this.states.get(id)?.get(key.name) ?? this.addState(id, key));
  }

  private addState(providerId: string, key: ProviderKey, before?: KeyState): KeyState {
    const ofProvider = this.states.get(providerId) ?? new Map<string, KeyState>();
    this.states.set(providerId, ofProvider);
    const kept = before?.key.apiKey === key.apiKey ? before : undefined;
    const fresh = { running: 0, calls: 0, turn: 0, wasAway: true, hold: null, holds: 0, nextHoldMs: firstHoldMs };
    // The same object, so that attempts that are running are counted out of it.
    const state: KeyState = kept
      ? Object.assign(kept, { key, refused: false })
      : { ...fresh, key, providerId, refused: false };
    ofProvider.set(key.name, state);
    return state;
  }

  private isUsable(state: KeyState): boolean {
    return !state.refused && this.heldMs(state) === null;
  }

  /** How much longer a key is held; null where it is not. */
  private heldMs(state: KeyState): number | null {
    const { hold } = state;
    if (hold === null) return null;
    const { clock } = this.ports;
    const now = clock.now();
    const leftMs =
      hold.day === null
        ? hold.untilMs - clock.monotonicMs()
        : hold.day === utcDay(now)
          ? nextMidnightUtc(now) - now
          : 0;
    if (leftMs > 0) return leftMs;
    state.hold = null;
    return null;
  }

  private learn(state: KeyState, outcome: Failure | 'served' | 'neither', holdsBefore: number): boolean {
    if (typeof outcome === 'string') {
      // An attempt that began before the limit was reached does not show that it is gone.
      if (outcome === 'served' && holdsBefore === state.holds) state.nextHoldMs = firstHoldMs;
      return false;
    }
    const fault = keyFaultOf(outcome);
    if (fault === null) return false;
    if (fault === 'refused') this.refuse(state, outcome);
    else this.hold(state, fault, outcome, holdsBefore);
    return true;
  }

  private refuse(state: KeyState, { status, quote }: Failure): void {
    this.isTroubled = true;
    state.wasAway = true;
    if (state.refused) return;
    state.refused = true;
    this.ports.logger.error(
      { provider: state.providerId, key: state.key.name, status, said: quote },
      'a provider refuses one of its keys, which is not used again until the catalogue is reloaded',
    );
  }

  private hold(state: KeyState, kind: Hold['kind'], { retryAfterMs }: Failure, holdsBefore: number): void {
    const { clock, logger } = this.ports;
    const isUntilMidnight = kind === 'spent' && retryAfterMs === undefined;
    const heldMs = this.heldMs(state);
    // Attempts that ran side by side meet one limit, not one each.
    const isSame = heldMs !== null && holdsBefore !== state.holds;
    const statedMs = retryAfterMs ?? (isSame ? heldMs : state.nextHoldMs);
    if (isSame && !isUntilMidnight && (state.hold!.day !== null || statedMs <= heldMs)) return;
    if (!isSame && retryAfterMs === undefined && !isUntilMidnight)
      state.nextHoldMs = Math.min(2 * state.nextHoldMs, longestHoldMs);
    const day = isUntilMidnight ? utcDay(clock.now()) : null;
    state.hold = { kind, day, untilMs: day === null ? clock.monotonicMs() + statedMs : Number.POSITIVE_INFINITY };
    state.holds++;
    state.wasAway = true;
    this.isTroubled = true;
    const until = new Date(clock.now() + this.heldMs(state)!).toISOString();
    logger.warn(
      { provider: state.providerId, key: state.key.name, kind, until },
      'one of the keys of a provider is held',
    );
  }
}

/** What a failure says of the key that was sent; null where it says nothing. */
function keyFaultOf(failure: Failure): Hold['kind'] | 'refused' | null {
  const { meaning, status, disputed, oversized } = failure;
  if (disputed || oversized || meaning === 'rejected') return null;
  if (meaning === 'quota') return 'spent';
  // A key without credit is looked at again as often as one that is limited: credit is added without a word to the gateway.
  if (meaning === 'rate_limit' || meaning === 'billing' || status === 429) return 'limited';
  return refusesCredential(failure) ? 'refused' : null;
}

/** So many calls may a key be behind its share, and make up for. More would be a burst on one key. */
const arrearsMax = 10;

/** A key that comes back takes its turn like those that were there, and does not make up for the time that it was away. */
function catchUp(usable: readonly KeyState[]): void {
  const there = usable.filter(({ wasAway }) => !wasAway).map(({ turn }) => turn);
  const most = Math.max(...usable.map(({ turn }) => turn));
  const least = there.length === 0 ? most : Math.min(...there);
  for (const state of usable) {
    state.turn = Math.max(state.turn, state.wasAway ? least : most - arrearsMax / state.key.weight);
    state.wasAway = false;
  }
}

/** Sums of parts of a whole miss it by less. */
const epsilon = 1e-9;

/**
 * The key with the fewest running requests for its weight. Whole requests can seldom be divided by weights: a key that lacks a whole one
 * of its share comes first, then of those with less than their share rounded up the one with the fewest calls for its weight. With
 * equal weights that is the fewest running, in turn.
 */
function chosenOf(usable: readonly KeyState[]): KeyState {
  let running = 1;
  let weights = 0;
  for (const state of usable) {
    running += state.running;
    weights += state.key.weight;
  }
  let best: KeyState | undefined;
  let bestRank = 0;
  let bestFigure = 0;
  for (const state of usable) {
    const { weight } = state.key;
    const share = (running * weight) / weights;
    const lacksWhole = state.running < Math.floor(share + epsilon);
    if (!lacksWhole && state.running >= Math.ceil(share - epsilon)) continue;
    const rank = lacksWhole ? 0 : 1;
    const figure = lacksWhole ? state.running / weight : state.turn;
    if (best !== undefined && (rank > bestRank || (rank === bestRank && figure >= bestFigure - epsilon))) continue;
    [best, bestRank, bestFigure] = [state, rank, figure];
  }
  // Together they run one less than their shares, so one of them is below its own.
  return best ?? usable[0]!;
}
