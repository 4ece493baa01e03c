/**
 * The routes of conversations that all processes of a fleet share. Each process keeps what it has seen itself as well, for the time in
 * which Redis is away.
 */
import type { MemoryConversations } from '../conversations.js';
import type { Conversations } from '../ports.js';
import { forgetConversationScript, recallConversationScript, rememberConversationScript } from './scripts.js';
import type { SharedLink } from './shared-link.js';

export class RedisConversations implements Conversations {
  constructor(
    private readonly link: SharedLink,
    private readonly local: MemoryConversations,
    private readonly ttlMs: number,
  ) {}

  /** Another process may know it. */
  mayKnow(): boolean {
    return true;
  }

  /** Sent in the same turn as the count of the request's tokens, so that it costs no round trip of its own. */
  async recall(name: string): Promise<string | null> {
    const { link } = this;
    const found = await link.run<string>(recallConversationScript, [this.keyOf(name)], [], link.requestWaitMs);
    if (found === null) return this.local.recall(name);
    return found === '' ? null : found;
  }

  remember(name: string, routeId: string, accountId: string): void {
    this.local.remember(name, routeId, accountId);
    const figures = [routeId, String(this.ttlMs)];
    void this.link.run(rememberConversationScript, [this.keyOf(name)], figures);
  }

  forget(name: string): void {
    this.local.forget(name);
    void this.link.run(forgetConversationScript, [this.keyOf(name)], []);
  }

  private keyOf(name: string): string {
    return `${this.link.prefix}r:${name}`;
  }
}
