/** The connection to the shared state as its parts use it: to one Redis, or to the nodes of a cluster. */
import type { Script } from './script.js';

/** A server that comes back. */
export interface SharedNode {
  /** Whether the key is kept on this server. */
  covers(key: string): boolean;
  /** Runs a script before the server is reported as up. */
  runAway<T>(script: Script, keys: readonly string[], figures: readonly string[]): Promise<T | null>;
}

/** A step of coming back. null where there is nothing to do; false where it failed and the server stays away. */
export type BackStep = (node: SharedNode) => Promise<boolean> | null;

export interface SharedLink {
  /** The prefix of every key. */
  readonly prefix: string;
  /** How long a request waits. */
  readonly requestWaitMs: number;
  readonly isCluster: boolean;
  /** Whether everything is within reach. */
  readonly up: boolean;
  /** Whether the server of a key is within reach. */
  isUp(key: string): boolean;
  /** The keys of one command must be in one slot. A single Redis has one slot. */
  slotOf(key: string): number;
  /**
   * The part of a key's name that keeps all keys of an owner, such as an account, in one slot. Empty for a single Redis, where
   * replicas of an earlier version use the same names.
   */
  tagOf(owner: string): string;
  /**
   * Runs a script on keys of one slot; null where Redis is out of reach or does not answer in time. Never rejects. Without `waitMs` it
   * waits as long as work may that no request waits for.
   */
  run<T>(script: Script, keys: readonly string[], figures: readonly string[], waitMs?: number): Promise<T | null>;
  /** Called each time a server goes out of reach, before callers that waited for it go on. */
  onAway(listener: () => void): void;
  /**
   * Called when a connection is gone, closed by the server or by us after two seconds of silence, and when a server refuses
   * requests, because it then refuses raises too. Otherwise nothing can have been missed: a raise waits longer than that for a
   * silent server.
   */
  onLost(listener: () => void): void;
  onBack(listener: (node: SharedNode) => void): void;
  /** Runs before a server is reported as up, again and again until it has nothing to do. */
  beforeBack(step: BackStep): void;
  /** Resolves when everything is within reach, or when a start should not wait any longer. */
  open(): Promise<void>;
  close(): Promise<void>;
}

/** Something that is asked of the server of a key. */
export interface Keyed {
  readonly key: string;
}

type Slots = Pick<SharedLink, 'isCluster' | 'slotOf'>;

/** The asks that can share a command, in their order. */
export function bySlot<Ask extends Keyed>(link: Slots, asks: readonly Ask[]): Iterable<readonly Ask[]> {
  if (!link.isCluster) return [asks];
  const groups = new Map<number, Ask[]>();
  for (const ask of asks) {
    const slot = link.slotOf(ask.key);
    const group = groups.get(slot);
    if (group) group.push(ask);
    else groups.set(slot, [ask]);
  }
  return groups.values();
}

/** The asks in parts of so many that can share a command. */
export function inParts<Ask extends Keyed>(link: Slots, asks: readonly Ask[], most: number): (readonly Ask[])[] {
  const parts: (readonly Ask[])[] = [];
  for (const together of bySlot(link, asks))
    for (let at = 0; at < together.length; at += most) parts.push(together.slice(at, at + most));
  return parts;
}
