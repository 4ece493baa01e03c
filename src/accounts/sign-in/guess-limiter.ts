/**
 * How often somebody may try. Each attempt takes one from every bucket that it belongs to, before its
 * outcome is known, so that attempts at the same time count too; a success gives them back. An attempt that is refused takes
 * nothing: guesses from one address soon cost the account's other visitors nothing more.
 */
import type { Bucket, Buckets } from '../../cluster/ports.js';
import { gatewayError } from '../../errors/gateway-error.js';

export class GuessLimiter {
  constructor(private readonly buckets: Buckets) {}

  /** Throws too_many_attempts, with the time after which all of the buckets have one again. */
  async take(buckets: readonly Bucket[]): Promise<void> {
    const waitMs = await this.buckets.take(buckets);
    if (waitMs === 0) return;
    const seconds = Math.ceil(waitMs / 1000);
    throw gatewayError('too_many_attempts', { seconds }, { retryAfterSeconds: seconds });
  }

  async giveBack(buckets: readonly Bucket[]): Promise<void> {
    await this.buckets.giveBack(buckets);
  }
}
