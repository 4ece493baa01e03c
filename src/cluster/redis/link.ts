/**
 * The connection to one Redis. It is either up or away: nothing is queued while it is away, nobody waits longer than their limit,
 * and a later answer is dropped. It reconnects by itself.
 */
import { Command, Redis } from 'ioredis';
import type { Logger } from '../../base/logger.js';
import { AnswerWatch } from './answer-watch.js';
import { type LinkOptions, type NodeOptions, patientWaitMs, prefixOf, requestWaitMs } from './link-options.js';
import { clientAddress, maskedAddress } from './redis-address.js';
import type { Script } from './script.js';
import { allScripts } from './scripts.js';
import type { BackStep, SharedLink, SharedNode } from './shared-link.js';

/**
 * Together with `patientWaitMs`, the longest time for which a process without traffic takes a silent Redis for a live one.
 */
const beatMs = 250;
/** A connection that is silent for this long is replaced: its other end may not exist any more. */
const silenceMs = 2_000;
/** How long a start waits for Redis before it goes on without. */
const openingMs = 1_000;

/** The client gives the other end half of this to close a connection too. */
const closingMs = 100;

const asText = { replyEncoding: 'utf8' } as const;

export class RedisLink implements SharedLink, SharedNode {
  readonly prefix: string;
  readonly requestWaitMs: number;
  private readonly patientWaitMs: number;
  readonly isCluster = false;
  readonly address: string;
  private readonly logger: Logger;
  private readonly redis: Redis;
  private readonly watch = new AnswerWatch((waitMs) => this.goAway(`no answer within ${waitMs} ms`));
  private readonly awayListeners: (() => void)[] = [];
  private readonly lostListeners: (() => void)[] = [];
  private readonly backListeners: ((node: SharedNode) => void)[] = [];
  private readonly backSteps: BackStep[] = [];
  private answers = false;
  private closed = false;
  private beats: NodeJS.Timeout | undefined;
  private beating = false;
  private comingBack = false;
  /** When Redis last answered. */
  private answeredMs = performance.now();
  private awaySinceMs = performance.now();
  /** Why Redis is away, and the client's last error. */
  private reason = 'no connection yet';
  private complaint = '';

  constructor(
    { redisUrl, namespace, timeoutMs = requestWaitMs, logger }: LinkOptions,
    private readonly node?: NodeOptions,
  ) {
    this.prefix = prefixOf(namespace);
    this.requestWaitMs = timeoutMs;
    this.patientWaitMs = Math.max(patientWaitMs, timeoutMs);
    this.address = maskedAddress(redisUrl);
    this.logger = logger;
    this.redis = new Redis(clientAddress(redisUrl), {
      ...node?.client,
      lazyConnect: true,
      connectionName: 'lodestone',
      connectTimeout: silenceMs,
      disconnectTimeout: closingMs / 2,
      enableOfflineQueue: false,
      // Reconnecting checks more than this, in fewer round trips.
      enableReadyCheck: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: null,
      // With jitter, so that the processes of a fleet do not reconnect at the same moment.
      retryStrategy: (times) => Math.min(100 * times, 500) * (0.5 + Math.random() / 2),
    });
  }

  get up(): boolean {
    return this.answers;
  }

  isUp(): boolean {
    return this.up;
  }

  slotOf(): number {
    return 0;
  }

  tagOf(): string {
    return '';
  }

  covers(key: string): boolean {
    return this.node?.covers(key) ?? true;
  }

  onAway(listener: () => void): void {
    this.awayListeners.push(listener);
  }

  onLost(listener: () => void): void {
    this.lostListeners.push(listener);
  }

  onBack(listener: (node: SharedNode) => void): void {
    this.backListeners.push(listener);
  }

  beforeBack(step: BackStep): void {
    this.backSteps.push(step);
  }

  async open(): Promise<void> {
    const { redis } = this;
    redis.on('error', (error: Error) => {
      this.complaint = error.message;
    });
    redis.on('connect', () => this.noteAnswer());
    redis.on('ready', () => void this.comeBack());
    redis.on('close', () => {
      this.tell(this.lostListeners);
      this.goAway(this.complaint || 'the connection was closed');
    });
    this.beats = setInterval(() => this.beat(), beatMs);
    const opened = new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, openingMs);
      this.backListeners.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
    redis.connect().catch(() => {});
    await opened;
    if (!this.answers) this.logger.warn({ redis: this.address, reason: this.reason }, 'shared state is out of reach');
  }

  close(): Promise<void> {
    this.closed = true;
    this.answers = false;
    clearInterval(this.beats);
    this.watch.drop();
    const { redis } = this;
    return new Promise((resolve) => {
      // Between two attempts to connect there is nothing to close and no event.
      const timer = setTimeout(resolve, closingMs);
      redis.once('end', () => {
        clearTimeout(timer);
        resolve();
      });
      redis.disconnect();
    });
  }

  run<T>(
    { sha }: Script,
    keys: readonly string[],
    figures: readonly string[],
    waitMs = this.patientWaitMs,
  ): Promise<T | null> {
    if (!this.answers) return Promise.resolve(null);
    const args = [sha, String(keys.length)];
    for (const key of keys) args.push(key);
    for (const figure of figures) args.push(figure);
    return this.send('evalsha', args, waitMs);
  }

  runAway<T>({ sha }: Script, keys: readonly string[], figures: readonly string[]): Promise<T | null> {
    return this.send('evalsha', [sha, String(keys.length), ...keys, ...figures], this.patientWaitMs);
  }

  /** The slots of the cluster as this node knows them; null where it does not answer. */
  slots(): Promise<unknown> {
    return this.redis.status === 'ready' ? this.send('cluster', ['slots'], this.patientWaitMs) : Promise.resolve(null);
  }

  /** Checks everything again before requests rely on it: keys have moved to this node, or from it. */
  recheck(why: string): void {
    this.goAway(why);
  }

  private send<T>(name: string, args: string[], waitMs: number): Promise<T | null> {
    return new Promise((resolve) => {
      const ask = this.watch.add(resolve as (answer: unknown) => void, waitMs);
      const command = new Command(name, [], asText);
      // The constructor would flatten and check them one by one, which takes as long as all other work of sending.
      command.args = args;
      const sent = this.redis.sendCommand(command) as Promise<T>;
      sent.then(
        (answer) => {
          this.noteAnswer();
          if (this.watch.answered(ask)) resolve(answer);
        },
        (error: Error) => {
          if (this.watch.answered(ask)) this.handleRefusal(error);
          resolve(null);
        },
      );
    });
  }

  private write(waitMs: number): Promise<unknown> {
    return this.send('set', [this.node?.aliveKey() ?? `${this.prefix}alive`, '1', 'px', '60000'], waitMs);
  }

  /**
   * A Redis that refuses requests (it lost the scripts, is loading, is full, or is a replica) counts as away until it stops.
   */
  private handleRefusal({ message }: Error): void {
    this.node?.onRefusal(message);
    this.tell(this.lostListeners);
    this.goAway(message);
    // After a failover the address may belong to another server.
    if (message.startsWith('READONLY')) this.redis.disconnect(true);
  }

  private noteAnswer(): void {
    this.answeredMs = performance.now();
  }

  private goAway(reason: string): void {
    this.reason = reason;
    const wasUp = this.answers;
    this.answers = false;
    // Callers that are notified continue later in this turn, after the listeners.
    this.watch.drop();
    if (!wasUp || this.closed) return;
    this.awaySinceMs = performance.now();
    this.logger.warn({ redis: this.address, reason }, 'shared state is out of reach');
    this.tell(this.awayListeners);
    void this.comeBack();
  }

  /** Checks everything that requests rely on: scripts, room to write, raised versions, and speed. */
  private async comeBack(): Promise<void> {
    if (this.answers || this.comingBack || this.closed || this.redis.status !== 'ready') return;
    this.comingBack = true;
    try {
      const loads = allScripts.map(({ lua }) => this.send('script', ['load', lua], this.patientWaitMs));
      if ((await Promise.all(loads)).includes(null)) return;
      // A Redis too slow for requests would be away again with the next one.
      if ((await this.write(this.requestWaitMs)) === null) return;
      for (let step = this.nextStep(); step; step = this.nextStep()) if (!(await step)) return;
      this.answers = true;
      this.complaint = '';
    } catch (error) {
      // The next beat tries again, several times a second, so the same error is logged once.
      const complaint = String(error);
      if (this.complaint !== complaint) this.logger.error({ error }, 'shared state could not be checked; trying again');
      this.complaint = complaint;
      return;
    } finally {
      this.comingBack = false;
    }
    const awayMs = Math.round(performance.now() - this.awaySinceMs);
    this.logger.info({ redis: this.address, awayMs }, 'shared state is within reach');
    this.tell(this.backListeners);
  }

  private nextStep(): Promise<boolean> | null {
    for (const step of this.backSteps) {
      const doing = step(this);
      if (doing) return doing;
    }
    return null;
  }

  private beat(): void {
    if (this.answers) {
      if (this.beating) return;
      this.beating = true;
      // A write: a Redis that is full or a replica answers everything else, and takes no raise.
      void this.write(this.patientWaitMs).then(() => {
        this.beating = false;
      });
      return;
    }
    const { status } = this.redis;
    if (status === 'end') this.redis.connect().catch(() => {});
    else if ((status === 'ready' || status === 'connect') && performance.now() - this.answeredMs > silenceMs) {
      this.noteAnswer();
      this.redis.disconnect(true);
    } else void this.comeBack();
  }

  /** A listener that fails does not keep the others from being called. */
  private tell(listeners: readonly ((node: SharedNode) => void)[]): void {
    for (const listener of listeners) {
      try {
        listener(this);
      } catch (error) {
        this.logger.error({ error }, 'a listener of shared state failed');
      }
    }
  }
}
