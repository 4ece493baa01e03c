/**
 * The interface of what a fleet has spent and holds of balances, budgets and caps. The sum of a subject only ever grows by costs, so what is
 * left of a limit is known without asking the store.
 */

/** The usage of an account, or of an account, a project or a key in a period. */
export interface SpendSubject {
  /** Different for every subject of the fleet. */
  readonly name: string;
  readonly accountId: string;
  /** `balance` = the usage of the account that its balance is about. */
  readonly kind: 'balance' | 'account' | 'project' | 'key';
  readonly id: string;
  /** When the period began; 0 = usage of all times. */
  readonly fromMs: number;
}

export interface SpendLimit {
  readonly subject: SpendSubject;
  /** How much may be spent in all. */
  readonly limitPico: bigint;
}

export interface SpendAsk {
  /** All must have room, or nothing is held of any. The first without room is reported. */
  readonly limits: readonly SpendLimit[];
  readonly estimatePico: bigint;
  /** When the request began. */
  readonly atMs: number;
  /** False where the balance is not among the limits, although it is bounded: the request takes nothing from it. */
  readonly holdsBalance?: boolean;
}

/** The subject that `place` names among the limits has no room. */
export interface SpendRefusal {
  readonly kind: 'refused';
  readonly place: number;
  readonly spentPico: bigint;
  readonly heldPico: bigint;
  readonly requests: number;
  /** Identifies the last change of the subject, which was so many milliseconds ago. */
  readonly change: number;
  readonly unchangedMs: number;
}

/** `unknown` = the shared state does not know what was spent; it has to be told by `setSpent`. */
export type SpendAnswer =
  | { readonly kind: 'held' }
  | { readonly kind: 'unknown'; readonly place: number }
  | SpendRefusal;

export interface SharedSpend {
  /**
   * Holds the estimate where something is left of every limit, and either nothing of the subject is in flight or more is left than is
   * held. null where the shared state is out of reach.
   */
  take(ask: SpendAsk): Promise<SpendAnswer | null>;
  /** The request is in flight without having been asked for, because the shared state was out of reach. */
  note(ask: SpendAsk): void;
  /** Ends the hold of a request and adds its cost to what was spent. */
  release(subjects: readonly SpendSubject[], estimatePico: bigint, costPico: bigint): void;
  /** Adds a cost for which nothing was held. */
  addCost(subject: SpendSubject, costPico: bigint): void;
  /**
   * What the store says was spent counts where nothing is known (`first`), also where less is known (`least`), or where the subject has
   * not changed since a change and nothing of it is in flight. False where it does not count, or nobody answers.
   */
  setSpent(subject: SpendSubject, spentPico: bigint, when: 'first' | 'least' | number): Promise<boolean>;
  /** null where the shared state is out of reach. */
  inFlight(subject: SpendSubject): Promise<{ heldPico: bigint; requests: number } | null>;
  /** Called with each subject of which a cost may not have been added: the store has to be asked what was spent. */
  onMissed(listener: (subject: SpendSubject) => void): void;
  /** Called each time the shared state goes out of reach. */
  onAway(listener: () => void): void;
}

/** What a fleet agrees on, wherever it is counted. */
export interface FleetSpend extends SharedSpend {
  /** Whether a take may go to Redis with what else is asked of it. */
  readonly isInRedis: boolean;
}

/** What this process holds of a subject. */
export interface OwnHold {
  readonly subject: SpendSubject;
  readonly heldPico: bigint;
  readonly requests: number;
}

/** Redis, which comes first. */
export interface RedisSpending extends SharedSpend {
  /** The name under which this process holds. */
  readonly owner: string;
  readonly isUp: boolean;
  /** Whether a take has no answer yet. */
  readonly isAsking: boolean;
  heldOf(subject: SpendSubject): OwnHold;
  allHeld(): Iterable<OwnHold>;
  /** What was spent of these is not known there any more: whoever asks next has to tell it. */
  forget(subjects: readonly SpendSubject[]): Promise<void>;
}
