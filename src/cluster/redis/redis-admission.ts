/** Admits a request in one round trip to Redis. The requests of one turn of the event loop share one command. */
import type { Admission, AdmissionAnswer, AdmissionAsk, ChatTaken, Counted, KeyAsk } from '../ports.js';
import { type RedisLink, requestWaitMs } from './link.js';
import { type RedisCounters, resetMsOf, wholeFigure } from './redis-counters.js';
import type { RawSpendAnswer, RedisSpend } from './redis-spend.js';
import type { RedisVersions } from './redis-versions.js';
import { admitScript } from './scripts.js';
import { TurnBatch } from './turn-batch.js';

type Answer = (number | string | number[] | null)[];

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
  private readonly windows: readonly string[];
  private readonly peers: RedisCounters;
  private readonly requests: RedisCounters;
  private readonly tokens: RedisCounters;

  /** The counters are those of the limiters, so that they read what is learnt here. */
  constructor(
    private readonly link: RedisLink,
    versions: RedisVersions,
    counters: Record<'peers' | 'requests' | 'tokens', RedisCounters>,
    private readonly spend: RedisSpend,
  ) {
    this.peers = counters.peers;
    this.requests = counters.requests;
    this.tokens = counters.tokens;
    this.sharedKeys = [versions.keyOf('states'), versions.keyOf('catalogue')];
    this.keyVersionPrefix = versions.keyOf('key:');
    this.accountVersionPrefix = versions.keyOf('account:');
    this.windows = [this.peers, this.requests, this.tokens].map(({ windowMs }) => String(windowMs));
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
    const limits: string[] = [...this.windows, this.spend.owner];
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
      if (key) this.writeChat(key, keys, limits);
    }
    const answer = await this.link.run<Answer>(admitScript, keys, limits, requestWaitMs);
    if (answer) {
      this.resolveAll(asked, answer);
      return;
    }
    this.unanswered += asked.length;
    for (const { ask, resolve } of asked) {
      this.forgetChat(ask.key);
      resolve(null);
    }
  }

  private writeChat({ id, chat }: KeyAsk, keys: string[], figures: string[]): void {
    if (!chat) {
      figures.push('');
      return;
    }
    keys.push(this.tokens.keyOf(id));
    figures.push(wholeFigure(chat.tokens), String(chat.tokenLimit), chat.keyVersion, chat.accountVersion);
    if (chat.spend) this.spend.writeTake(chat.spend, keys, figures);
    else figures.push('0', '0', '0');
  }

  private forgetChat(key: KeyAsk | null): void {
    if (key?.chat?.spend) this.spend.readTake(key.chat.spend, null);
  }

  /**
   * The answer has three figures for an address, and three figures and two versions for a key unless its address was refused,
   * followed by -1 or four figures for the tokens and the spending of a chat.
   */
  private resolveAll(asked: readonly Asked[], answer: Answer): void {
    const [, statesVersion, catalogueVersion] = answer as [number, string | null, string | null];
    let at = 3;
    for (const { ask, resolve } of asked) {
      let peer: Counted | null = null;
      let request: Counted | null = null;
      let keyVersion: string | null = null;
      let accountVersion: string | null = null;
      let chat: ChatTaken | null = null;
      if (ask.peer) {
        peer = learnCount(this.peers, ask.peer.name, answer, at);
        at += 3;
      }
      if (ask.key && peer?.admitted !== false) {
        request = learnCount(this.requests, ask.key.id, answer, at);
        keyVersion = answer[at + 3] as string | null;
        accountVersion = answer[at + 4] as string | null;
        at += 5;
        if (ask.key.chat) {
          chat = this.readChat(ask.key, answer, at);
          at += chat ? 4 : 1;
        }
      } else this.forgetChat(ask.key);
      resolve({ peer, request, keyVersion, accountVersion, statesVersion, catalogueVersion, chat });
    }
  }

  private readChat(key: KeyAsk, answer: Answer, at: number): ChatTaken | null {
    if (answer[at] === -1) {
      this.forgetChat(key);
      return null;
    }
    const tokens = this.tokens.readTake(key.id, answer as number[], at);
    const raw = answer[at + 3] as RawSpendAnswer;
    const { spend } = key.chat!;
    return { tokens, spend: spend && this.spend.readTake(spend, raw === 0 ? null : raw) };
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
