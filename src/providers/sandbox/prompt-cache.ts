/** The simulated prompt cache of the sandbox: each route remembers for a while which prompts it has read. */
import { createHash } from 'node:crypto';
import type { Clock } from '../../base/time.js';

const keptMs = 300_000;
/** Callers choose the prompts, so only this many are kept; the oldest go first. */
const promptsMax = 1_000;
const charactersPerToken = 4;

export interface PromptUsage {
  readonly promptTokens: number;
  /** Of the longest beginning of the prompt that the route has read before. */
  readonly cachedTokens: number;
}

export class PromptCache {
  /** When each known beginning of a prompt expires, by its route and hash. */
  private readonly known = new Map<string, number>();

  constructor(private readonly clock: Pick<Clock, 'monotonicMs'>) {}

  /** Counts the tokens of a prompt, and remembers it for the next request. */
  read(routeId: string, messages: readonly unknown[]): PromptUsage {
    const nowMs = this.clock.monotonicMs();
    const hash = createHash('sha256').update(routeId);
    let characters = 0;
    let cached = 0;
    let key = '';
    for (const message of messages) {
      const text = JSON.stringify(message);
      characters += text.length;
      key = hash.update(text).copy().digest('base64url');
      if ((this.known.get(key) ?? 0) > nowMs) cached = characters;
    }
    this.keep(key, nowMs + keptMs);
    return { promptTokens: tokensOf(characters), cachedTokens: tokensOf(cached) };
  }

  private keep(key: string, expiresAtMs: number): void {
    this.known.delete(key);
    this.known.set(key, expiresAtMs);
    const [oldest] = this.known.keys();
    if (this.known.size > promptsMax && oldest !== undefined) this.known.delete(oldest);
  }
}

function tokensOf(characters: number): number {
  return Math.ceil(characters / charactersPerToken);
}
