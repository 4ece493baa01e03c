/**
 * Lets a few through and the rest wait. Hashing a password takes a thread of the pool that also writes the journal, for a
 * fifth of a second: many at once, from however many addresses, must not hold up those who only use the API.
 */
import { gatewayError } from '../../errors/gateway-error.js';

const retrySeconds = 10;

export class FewAtATime {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly runningMax: number,
    private readonly waitingMax: number,
  ) {}

  /** Throws too_many_attempts where too many wait already. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.running < this.runningMax) this.running++;
    else await this.turn();
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.running--;
    }
  }

  /** The place of the one that ends goes over to the one that has waited longest. */
  private turn(): Promise<void> {
    if (this.waiting.length >= this.waitingMax) {
      throw gatewayError('too_many_attempts', { seconds: retrySeconds }, { retryAfterSeconds: retrySeconds });
    }
    return new Promise((resolve) => this.waiting.push(resolve));
  }
}
