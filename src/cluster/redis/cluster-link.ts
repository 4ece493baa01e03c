/**
 * The connections to the masters of a Redis or Valkey cluster. Each is up or away by itself, so that a node that fails takes only the
 * keys of its own slots out of reach (docs/decisions/0047).
 */
import type { Logger } from '../../base/logger.js';
import { askForSlots, credentialsOf, readSlots, type SlotRange } from './cluster-slots.js';
import { keySlot, slotCount } from './key-slot.js';
import { RedisLink } from './link.js';
import { type LinkOptions, patientWaitMs, prefixOf, requestWaitMs } from './link-options.js';
import { maskedAddress } from './redis-address.js';
import type { Script } from './script.js';
import type { BackStep, SharedLink, SharedNode } from './shared-link.js';

/** How often the slots are asked for. A node that refuses a request is a reason to ask at once. */
const refreshMs = 1_000;

interface ClusterOptions extends Omit<LinkOptions, 'redisUrl'> {
  /** Nodes to ask first. They tell the others. */
  redisUrls: readonly string[];
}

interface Member {
  readonly link: RedisLink;
  readonly opened: Promise<void>;
  /** A key of a slot of this node. */
  aliveKey: string;
}

export class ClusterLink implements SharedLink {
  readonly prefix: string;
  readonly requestWaitMs: number;
  private readonly patientWaitMs: number;
  readonly isCluster = true;
  private readonly logger: Logger;
  /** By their addresses. */
  private readonly members = new Map<string, Member>();
  private owners: readonly (RedisLink | undefined)[] = [];
  private readonly lostListeners: (() => void)[] = [];
  /** What is done with every connection, also with those that are opened later. */
  private readonly preparations: ((link: RedisLink) => void)[] = [];
  private refreshing: Promise<void> | null = null;
  private timer: NodeJS.Timeout | undefined;
  private turn = 0;
  private closed = false;

  constructor(private readonly options: ClusterOptions) {
    const { namespace, timeoutMs = requestWaitMs, logger } = options;
    this.prefix = prefixOf(namespace);
    this.requestWaitMs = timeoutMs;
    this.patientWaitMs = Math.max(patientWaitMs, timeoutMs);
    this.logger = logger;
  }

  get up(): boolean {
    if (this.owners.length < slotCount || this.owners.includes(undefined)) return false;
    for (const { link } of this.members.values()) if (!link.up) return false;
    return true;
  }

  isUp(key: string): boolean {
    return this.owners[keySlot(key)]?.up === true;
  }

  slotOf(key: string): number {
    return keySlot(key);
  }

  tagOf(owner: string): string {
    return `{${owner}}`;
  }

  run<T>(script: Script, keys: readonly string[], figures: readonly string[], waitMs?: number): Promise<T | null> {
    const owner = this.owners[keySlot(keys[0]!)];
    return owner ? owner.run(script, keys, figures, waitMs) : Promise.resolve(null);
  }

  onAway(listener: () => void): void {
    this.prepare((link) => link.onAway(listener));
  }

  onLost(listener: () => void): void {
    this.lostListeners.push(listener);
    this.prepare((link) => link.onLost(listener));
  }

  onBack(listener: (node: SharedNode) => void): void {
    this.prepare((link) => link.onBack(listener));
  }

  beforeBack(step: BackStep): void {
    this.prepare((link) => link.beforeBack(step));
  }

  private prepare(preparation: (link: RedisLink) => void): void {
    this.preparations.push(preparation);
    for (const { link } of this.members.values()) preparation(link);
  }

  async open(): Promise<void> {
    this.timer = setInterval(() => void this.refresh(), refreshMs);
    await this.refresh();
    await Promise.all([...this.members.values()].map(({ opened }) => opened));
    if (this.members.size === 0)
      this.logger.warn({ redis: this.options.redisUrls.map(maskedAddress) }, 'no node of the Redis cluster answers');
  }

  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.timer);
    await Promise.all([...this.members.values()].map(({ link }) => link.close()));
  }

  /** Asks one node after another for the slots until one knows. */
  private refresh(): Promise<void> {
    this.refreshing ??= this.readSlots()
      .catch((error) => {
        this.logger.error({ error: String(error) }, 'the slots of the Redis cluster could not be read; trying again');
      })
      .finally(() => {
        this.refreshing = null;
      });
    return this.refreshing;
  }

  private async readSlots(): Promise<void> {
    const all = [...this.members];
    // Another node each time: one that was cut off from the others may have an old view.
    const first = all.length === 0 ? 0 : ++this.turn % all.length;
    for (const [address, { link }] of [...all.slice(first), ...all.slice(0, first)]) {
      if (!link.up) continue;
      const slots = readSlots(await link.slots(), address);
      if (slots) return this.adopt(slots);
    }
    for (const seed of this.options.redisUrls) {
      if (this.closed) return;
      const slots = await askForSlots(seed, this.patientWaitMs);
      if (slots) return this.adopt(slots);
    }
  }

  private adopt(ranges: readonly SlotRange[]): void {
    if (this.closed) return;
    const addresses = new Set(ranges.map(({ address }) => address));
    const gone = [...this.members].filter(([address]) => !addresses.has(address));
    for (const [address] of gone) this.members.delete(address);
    for (const address of addresses) if (!this.members.has(address)) this.members.set(address, this.join(address));
    const before = this.owners;
    const owners = new Array<RedisLink | undefined>(slotCount).fill(undefined);
    for (const { from, to, address } of ranges) owners.fill(this.members.get(address)!.link, from, to + 1);
    const gained = new Set<RedisLink>();
    for (let slot = 0; slot < slotCount; slot++) {
      const owner = owners[slot];
      if (owner && owner !== before[slot]) gained.add(owner);
    }
    if (gained.size === 0 && gone.length === 0 && before.length > 0) return;
    this.owners = owners;
    this.chooseAliveKeys();
    const nodes = [...addresses];
    this.logger.info({ nodes }, 'the slots of the Redis cluster were read');
    if (before.length === 0) return;
    // A new master may lack what the old one had acknowledged, so nothing that is held can be trusted.
    for (const listener of this.lostListeners) listener();
    for (const link of gained) if (link.up) link.recheck('slots have moved to this node');
    for (const [, { link }] of gone) {
      link.recheck('this node has no slots any more');
      void link.close();
    }
  }

  private join(address: string): Member {
    const { redisUrls, namespace, timeoutMs, logger } = this.options;
    const { scheme, client } = credentialsOf(redisUrls);
    const link: RedisLink = new RedisLink(
      { redisUrl: `${scheme}//${address}`, namespace, timeoutMs, logger },
      {
        client,
        covers: (key) => this.owners[keySlot(key)] === link,
        aliveKey: () => this.members.get(address)?.aliveKey ?? '',
        onRefusal: () => void this.refresh(),
      },
    );
    for (const preparation of this.preparations) preparation(link);
    return { link, opened: link.open(), aliveKey: '' };
  }

  private chooseAliveKeys(): void {
    const open = new Map([...this.members.values()].map((member) => [member.link, member]));
    for (let number = 0; open.size > 0 && number < 64 * slotCount; number++) {
      const key = `${this.prefix}alive:{${number}}`;
      const owner = this.owners[keySlot(key)];
      const member = owner && open.get(owner);
      if (!member) continue;
      member.aliveKey = key;
      open.delete(member.link);
    }
  }
}
