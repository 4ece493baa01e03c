/**
 * Runs a few calls at a time and lets the others wait. Hashing a password takes a fifth of a second on the thread pool that
 * also writes the journal, so many sign-ins at once must not delay API requests.
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

  /** Throws too_many_attempts where too many calls wait already. */
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

  /** Passes the place of a finished call to the one that has waited longest. */
  private turn(): Promise<void> {
    if (this.waiting.length >= this.waitingMax) {
      throw gatewayError('too_many_attempts', { seconds: retrySeconds }, { retryAfterSeconds: retrySeconds });
    }
    return new Promise((resolve) => this.waiting.push(resolve));
  }
}
