/**
 * Admits a request in one round trip to Redis. The requests of one turn of the event loop share one command. In a cluster there are up
 * to three commands, sent at once: for the account, for the address, and for the versions that all requests share.
 */
import { atEndOfTurn } from '../../base/turn.js';
import type { Admission, AdmissionAnswer, AdmissionAsk, ChatTaken, Counted, KeyAsk, Take } from '../ports.js';
import { type RedisCounters, resetMsOf, wholeFigure } from './redis-counters.js';
import type { RawSpendAnswer, RedisSpend } from './redis-spend.js';
import type { RedisVersions } from './redis-versions.js';
import { admitScript, readVersionsScript } from './scripts.js';
import type { Keyed, SharedLink } from './shared-link.js';
import { TurnBatch } from './turn-batch.js';

type Answer = (number | string | number[] | null)[];

/** The key is of no importance where there is one Redis. */
interface Asked extends Keyed {
  readonly ask: AdmissionAsk;
  readonly resolve: (answer: AdmissionAnswer | null) => void;
}

/** What a cluster counted of a key, which may have to be given back. */
type KeyedAnswer = AdmissionAnswer & { readonly request: Take | null };

const nothingAsked: Omit<AdmissionAnswer, 'peer'> = {
  request: null,
  ...{ keyVersion: null, accountVersion: null, statesVersion: null, catalogueVersion: null, chat: null },
};

const away = Promise.resolve(null);

export class RedisAdmission implements Admission {
  /** The number of requests so far that had to do without Redis. */
  unanswered = 0;
  private readonly batch: TurnBatch<Asked>;
  /** The versions of states and catalogue, read once for all requests of a turn. */
  private reading: Promise<readonly (string | null)[]> | null = null;
  private readonly sharedKeys: readonly [string, string];
  private readonly windows: readonly string[];
  private readonly peers: RedisCounters;
  private readonly requests: RedisCounters;
  private readonly tokens: RedisCounters;

  /** The counters are those of the limiters, so that they read what is learnt here. */
  constructor(
    private readonly link: SharedLink,
    private readonly versions: RedisVersions,
    counters: Record<'peers' | 'requests' | 'tokens', RedisCounters>,
    private readonly spend: RedisSpend,
  ) {
    this.batch = new TurnBatch(link, (asked) => this.send(asked));
    this.peers = counters.peers;
    this.requests = counters.requests;
    this.tokens = counters.tokens;
    this.sharedKeys = [versions.keyOf('states'), versions.keyOf('catalogue')];
    this.windows = [this.peers, this.requests, this.tokens].map(({ windowMs }) => String(windowMs));
  }

  ask(ask: AdmissionAsk): Promise<AdmissionAnswer | null> {
    if (this.link.isCluster) return this.askNodes(ask);
    if (!this.link.up) {
      this.unanswered++;
      return away;
    }
    return this.queue('', ask);
  }

  private queue(key: string, ask: AdmissionAsk): Promise<AdmissionAnswer | null> {
    return new Promise((resolve) => {
      this.batch.add({ key, ask, resolve });
    });
  }

  /** Only the node of the account has to answer: without the others the address is counted here, and the store has the states. */
  private async askNodes(ask: AdmissionAsk): Promise<AdmissionAnswer | null> {
    const { peer, key } = ask;
    const counter = key && this.requests.keyOf(key.id, key.accountId);
    if (counter !== null && !this.link.isUp(counter)) {
      this.unanswered++;
      return null;
    }
    const [counted, shared, keyed] = await Promise.all([
      peer && this.peers.take(peer.name, 1, peer.limit),
      this.readShared(),
      counter && (this.queue(counter, { peer: null, key }) as Promise<KeyedAnswer | null>),
    ]);
    if (key && !keyed) {
      // It is counted again by whoever goes on without this answer.
      if (counted?.admitted) void counted.adjust(-1);
      return null;
    }
    const [statesVersion = null, catalogueVersion = null] = shared;
    const known = { peer: counted, statesVersion, catalogueVersion };
    if (counted?.admitted !== false) return { ...nothingAsked, ...keyed, ...known };
    if (key && keyed) this.giveBack(key, keyed);
    return { ...nothingAsked, ...known };
  }

  /** A request of a refused address counts nowhere else, but its key was counted at the same moment. */
  private giveBack({ chat: asked }: KeyAsk, { request, chat }: KeyedAnswer): void {
    if (request?.admitted) Promise.resolve(request.adjust(-1)).catch(() => {});
    if (!asked || !chat) return;
    if (chat.tokens.admitted) void chat.tokens.adjust(-asked.tokens);
    if (asked.spend && chat.spend?.kind === 'held') {
      const { limits, estimatePico } = asked.spend;
      this.spend.release(
        limits.map(({ subject }) => subject),
        estimatePico,
        0n,
      );
    }
  }

  private readShared(): Promise<readonly (string | null)[]> {
    this.reading ??= new Promise((resolve) => {
      atEndOfTurn('sends', () => {
        this.reading = null;
        const { link, sharedKeys } = this;
        const versions = link.run<(string | null)[]>(readVersionsScript, sharedKeys, [], link.requestWaitMs);
        resolve(versions.then((found) => found ?? []));
      });
    });
    return this.reading;
  }

  /** In a cluster the script finds no shared versions, because they are in another slot. */
  private sharedKeysOf([first]: readonly Asked[]): readonly string[] {
    if (!this.link.isCluster) return this.sharedKeys;
    const absent = this.requests.keyOf('', first!.ask.key!.accountId);
    return [absent, absent];
  }

  private async send(asked: readonly Asked[]): Promise<void> {
    const keys: string[] = [...this.sharedKeysOf(asked)];
    const limits: string[] = [...this.windows, this.spend.owner];
    for (const { ask } of asked) {
      const { peer, key } = ask;
      if (peer) keys.push(this.peers.keyOf(peer.name));
      limits.push(peer ? String(peer.limit) : '');
      if (key) {
        const { id, accountId } = key;
        keys.push(
          this.requests.keyOf(id, accountId),
          this.versions.ofKey(id, accountId),
          this.versions.ofAccount(accountId),
        );
      }
      limits.push(key ? String(key.limit) : '');
      if (key) this.writeChat(key, keys, limits);
    }
    const answer = await this.link.run<Answer>(admitScript, keys, limits, this.link.requestWaitMs);
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

  private writeChat({ id, accountId, chat }: KeyAsk, keys: string[], figures: string[]): void {
    if (!chat) {
      figures.push('');
      return;
    }
    keys.push(this.tokens.keyOf(id, accountId));
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
        const { id, accountId } = ask.key;
        request =
          this.link.isCluster || ask.key.mayGiveBack
            ? this.requests.readTake(id, this.requests.keyOf(id, accountId), answer as number[], at)
            : learnCount(this.requests, id, answer, at);
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
    const tokens = this.tokens.readTake(key.id, this.tokens.keyOf(key.id, key.accountId), answer as number[], at);
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
