/**
 * Limits how often somebody may try to sign in. Each attempt takes one from every bucket that it belongs to before its
 * outcome is known, so that parallel attempts count too; a success gives them back. A refused attempt takes nothing, so
 * guesses from one address soon stop costing the account's other users anything.
 */
import type { Bucket, Buckets } from '../../cluster/ports.js';
import { gatewayError } from '../../errors/gateway-error.js';

export class GuessLimiter {
  constructor(private readonly buckets: Buckets) {}

  /** Throws too_many_attempts with the time after which all buckets admit an attempt again. */
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
