/** Admits a request in one round trip to Redis. The requests of one turn of the event loop share one command. */
import type { Admission, AdmissionAnswer, AdmissionAsk, Counted } from '../ports.js';
import { type RedisLink, requestWaitMs } from './link.js';
import { type RedisCounters, resetMsOf } from './redis-counters.js';
import type { RedisVersions } from './redis-versions.js';
import { admitScript } from './scripts.js';
import { TurnBatch } from './turn-batch.js';

type Answer = (number | string | null)[];

interface Asked {
  readonly ask: AdmissionAsk;
  readonly resolve: (answer: AdmissionAnswer | null) => void;
}

const away = Promise.resolve(null);

export class RedisAdmission implements Admission {
  /** The number of requests so far that had to do without Redis. */
  unanswered = 0;
  private readonly batch = new TurnBatch<Asked>((asked) => void this.send(asked));
  private readonly sharedKeys: readonly [string, string];
  private readonly keyVersionPrefix: string;
  private readonly accountVersionPrefix: string;
  private readonly windows: readonly [string, string];

  /** The counters are those of the limiters, so that they read what is learnt here. */
  constructor(
    private readonly link: RedisLink,
    versions: RedisVersions,
    private readonly peers: RedisCounters,
    private readonly requests: RedisCounters,
  ) {
    this.sharedKeys = [versions.keyOf('states'), versions.keyOf('catalogue')];
    this.keyVersionPrefix = versions.keyOf('key:');
    this.accountVersionPrefix = versions.keyOf('account:');
    this.windows = [String(peers.windowMs), String(requests.windowMs)];
  }

  ask(ask: AdmissionAsk): Promise<AdmissionAnswer | null> {
    if (!this.link.up) {
      this.unanswered++;
      return away;
    }
    return new Promise((resolve) => {
      this.batch.add({ ask, resolve });
    });
  }

  private async send(asked: readonly Asked[]): Promise<void> {
    const keys: string[] = [this.sharedKeys[0], this.sharedKeys[1]];
    const limits: string[] = [this.windows[0], this.windows[1]];
    for (const { ask } of asked) {
      const { peer, key } = ask;
      if (peer) keys.push(this.peers.keyOf(peer.name));
      limits.push(peer ? String(peer.limit) : '');
      if (key) {
        keys.push(
          this.requests.keyOf(key.id),
          this.keyVersionPrefix + key.id,
          this.accountVersionPrefix + key.accountId,
        );
      }
      limits.push(key ? String(key.limit) : '');
    }
    const answer = await this.link.run<Answer>(admitScript, keys, limits, requestWaitMs);
    if (answer) {
      this.resolveAll(asked, answer);
      return;
    }
    this.unanswered += asked.length;
    for (const { resolve } of asked) resolve(null);
  }

  /**
   * The answer has three figures for an address, and three figures and two versions for a key unless its address was refused.
   */
  private resolveAll(asked: readonly Asked[], answer: Answer): void {
    const [, statesVersion, catalogueVersion] = answer as [number, string | null, string | null];
    let at = 3;
    for (const { ask, resolve } of asked) {
      let peer: Counted | null = null;
      let request: Counted | null = null;
      let keyVersion: string | null = null;
      let accountVersion: string | null = null;
      if (ask.peer) {
        peer = learnCount(this.peers, ask.peer.name, answer, at);
        at += 3;
      }
      if (ask.key && peer?.admitted !== false) {
        request = learnCount(this.requests, ask.key.id, answer, at);
        keyVersion = answer[at + 3] as string | null;
        accountVersion = answer[at + 4] as string | null;
        at += 5;
      }
      resolve({ peer, request, keyVersion, accountVersion, statesVersion, catalogueVersion });
    }
  }
}

/** Reads the three figures of a count at an index of the answer, which begins with Redis' time. */
function learnCount(counters: RedisCounters, name: string, answer: Answer, at: number): Counted {
  const nowMs = answer[0] as number;
  const used = answer[at + 1] as number;
  const expiry = answer[at + 2] as number;
  const resetMs = resetMsOf(nowMs, expiry);
  counters.learn(name, used, resetMs, expiry);
  return { admitted: answer[at] === 1, used, resetMs };
}
