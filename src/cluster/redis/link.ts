/**
 * The connection to Redis, as something that is there or away and never in between: nothing is queued while it is away, nobody
 * waits longer than they said, and an answer that comes after that is dropped. It finds its way back by itself.
 */
import { Command, Redis } from 'ioredis';
import type { Logger } from '../../base/logger.js';
import { AnswerWatch } from './answer-watch.js';
import { clientAddress, maskedAddress } from './redis-address.js';
import { allScripts, type Script } from './scripts.js';

/** How long a request waits for Redis. With the second round trip of a chat it stays under 50 ms: once one was in vain, none waits. */
export const requestWaitMs = 40;
/** What is not waited for by a request may take longer. */
export const patientWaitMs = 500;
/** With `patientWaitMs` the longest time for which a process without traffic takes a silent Redis for a living one. */
const beatMs = 250;
/** A connection that has been silent for so long is given up for a new one: its other end may not exist any more. */
const silenceMs = 2_000;
/** How long a start waits for Redis before it goes on without. */
const openingMs = 1_000;

/** The client gives the other end half of this to close a connection too. */
const closingMs = 100;

const asText = { replyEncoding: 'utf8' } as const;

export interface LinkOptions {
  redisUrl: string;
  /** Tells fleets apart that share a Redis. */
  namespace?: string | undefined;
  logger: Logger;
}

/** A step of coming back. null = there is nothing to do; false = it did not work out, and shared state stays away. */
export type BackStep = () => Promise<boolean> | null;

export class RedisLink {
  /** What every key begins with. */
  readonly prefix: string;
  private readonly address: string;
  private readonly logger: Logger;
  private readonly redis: Redis;
  private readonly watch = new AnswerWatch((waitMs) => this.goAway(`no answer within ${waitMs} ms`));
  private readonly awayListeners: (() => void)[] = [];
  private readonly lostListeners: (() => void)[] = [];
  private readonly backListeners: (() => void)[] = [];
  private readonly backSteps: BackStep[] = [];
  private isUp = false;
  private closed = false;
  private beats: NodeJS.Timeout | undefined;
  private beating = false;
  private comingBack = false;
  /** When something was last heard of the connection. */
  private heardMs = performance.now();
  private awaySinceMs = performance.now();
  /** Why it is away, and what the client has last complained of. */
  private reason = 'no connection yet';
  private complaint = '';

  constructor({ redisUrl, namespace, logger }: LinkOptions) {
    this.prefix = namespace ? `lodestone:${namespace}:` : 'lodestone:';
    this.address = maskedAddress(redisUrl);
    this.logger = logger;
    this.redis = new Redis(clientAddress(redisUrl), {
      lazyConnect: true,
      connectionName: 'lodestone',
      connectTimeout: silenceMs,
      disconnectTimeout: closingMs / 2,
      enableOfflineQueue: false,
      // Coming back makes sure of more than this check does, in fewer round trips.
      enableReadyCheck: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: null,
      // Spread, so that the processes of a fleet do not all knock at once.
      retryStrategy: (times) => Math.min(100 * times, 500) * (0.5 + Math.random() / 2),
    });
  }

  get up(): boolean {
    return this.isUp;
  }

  /** Told each time Redis goes out of reach, before anybody who waited for it goes on. */
  onAway(listener: () => void): void {
    this.awayListeners.push(listener);
  }

  /**
   * Told when the connection itself is gone, by Redis or by us after a silence of two seconds, and when Redis refuses what it is asked,
   * as it then refuses raises too. Otherwise nothing can have been missed: a raise that finds silence is waited for longer than that.
   */
  onLost(listener: () => void): void {
    this.lostListeners.push(listener);
  }

  onBack(listener: () => void): void {
    this.backListeners.push(listener);
  }

  /** Has to be done before the link is announced as back; asked again until it has nothing to do. */
  beforeBack(step: BackStep): void {
    this.backSteps.push(step);
  }

  /** Resolves when Redis answers, or when a start should not wait for it any longer. */
  async open(): Promise<void> {
    const { redis } = this;
    redis.on('error', (error: Error) => {
      this.complaint = error.message;
    });
    redis.on('connect', () => this.heard());
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
    if (!this.isUp) this.logger.warn({ redis: this.address, reason: this.reason }, 'shared state is out of reach');
  }

  close(): Promise<void> {
    this.closed = true;
    this.isUp = false;
    clearInterval(this.beats);
    this.watch.drop();
    const { redis } = this;
    return new Promise((resolve) => {
      // Between two attempts to connect there is nothing to close, and nothing that would say so.
      const timer = setTimeout(resolve, closingMs);
      redis.once('end', () => {
        clearTimeout(timer);
        resolve();
      });
      redis.disconnect();
    });
  }

  /** Runs a script that Redis has; null = out of reach, or no answer in time. Never rejects. */
  run<T>({ sha }: Script, keys: readonly string[], figures: readonly string[], waitMs: number): Promise<T | null> {
    if (!this.isUp) return Promise.resolve(null);
    const args = [sha, String(keys.length)];
    for (const key of keys) args.push(key);
    for (const figure of figures) args.push(figure);
    return this.send('evalsha', args, waitMs);
  }

  /** For the steps of coming back: like `run`, while the link is still away. */
  runAway<T>({ sha }: Script, keys: readonly string[], figures: readonly string[]): Promise<T | null> {
    return this.send('evalsha', [sha, String(keys.length), ...keys, ...figures], patientWaitMs);
  }

  private send<T>(name: string, args: string[], waitMs: number): Promise<T | null> {
    return new Promise((resolve) => {
      const ask = this.watch.add(resolve as (answer: unknown) => void, waitMs);
      const command = new Command(name, [], asText);
      // Handed to the constructor they would be flattened and checked one by one, which takes as long as all the rest of sending them.
      command.args = args;
      const sent = this.redis.sendCommand(command) as Promise<T>;
      sent.then(
        (answer) => {
          this.heard();
          if (this.watch.answered(ask)) resolve(answer);
        },
        (error: Error) => {
          if (this.watch.answered(ask)) this.refused(error);
          resolve(null);
        },
      );
    });
  }

  private write(waitMs: number): Promise<unknown> {
    return this.send('set', [`${this.prefix}alive`, '1', 'px', '60000'], waitMs);
  }

  /** A Redis that refuses what we ask (it lost the scripts, is loading, full, or a replica) is as good as none until it stops. */
  private refused({ message }: Error): void {
    this.tell(this.lostListeners);
    this.goAway(message);
    // An address may stand for another server by now, after a failover.
    if (message.startsWith('READONLY')) this.redis.disconnect(true);
  }

  private heard(): void {
    this.heardMs = performance.now();
  }

  private goAway(reason: string): void {
    this.reason = reason;
    const wasUp = this.isUp;
    this.isUp = false;
    // Who is told so goes on later in this turn, after the listeners.
    this.watch.drop();
    if (!wasUp || this.closed) return;
    this.awaySinceMs = performance.now();
    this.logger.warn({ redis: this.address, reason }, 'shared state is out of reach');
    this.tell(this.awayListeners);
    void this.comeBack();
  }

  /** Everything that requests rely on is made sure of first: scripts, room to write, raised versions, and speed. */
  private async comeBack(): Promise<void> {
    if (this.isUp || this.comingBack || this.closed || this.redis.status !== 'ready') return;
    this.comingBack = true;
    try {
      const loads = allScripts.map(({ lua }) => this.send('script', ['load', lua], patientWaitMs));
      if ((await Promise.all(loads)).includes(null)) return;
      // One that is too slow for requests would be away again with the next of them.
      if ((await this.write(requestWaitMs)) === null) return;
      for (let step = this.nextStep(); step; step = this.nextStep()) if (!(await step)) return;
      this.isUp = true;
      this.complaint = '';
    } finally {
      this.comingBack = false;
    }
    const awayMs = Math.round(performance.now() - this.awaySinceMs);
    this.logger.info({ redis: this.address, awayMs }, 'shared state is within reach');
    this.tell(this.backListeners);
  }

  private nextStep(): Promise<boolean> | null {
    for (const step of this.backSteps) {
      const doing = step();
      if (doing) return doing;
    }
    return null;
  }

  private beat(): void {
    if (this.isUp) {
      if (this.beating) return;
      this.beating = true;
      // A write: one that is full or a replica answers everything else, and takes no raise.
      void this.write(patientWaitMs).then(() => {
        this.beating = false;
      });
      return;
    }
    const { status } = this.redis;
    if (status === 'end') this.redis.connect().catch(() => {});
    else if ((status === 'ready' || status === 'connect') && performance.now() - this.heardMs > silenceMs) {
      this.heard();
      this.redis.disconnect(true);
    } else void this.comeBack();
  }

  /** One that fails keeps no other from being told. */
  private tell(listeners: readonly (() => void)[]): void {
    for (const listener of listeners) {
      try {
        listener();
      } catch (error) {
        this.logger.error({ error }, 'a listener of shared state failed');
      }
    }
  }
}
