/**
 * Limits failed admin authentications by address. A right token is refused too while the limit is reached: otherwise guesses
 * could go on, and the one answer that differs would give the token away.
 */
import type { Counters } from '../shared-state/counters.js';
import { peerOf } from './peer.js';
import { adminRateLimited } from './refusals.js';

const failuresPerMinute = 20;
/** Failures a minute that are written to the audit log; many addresses at once must not fill the store. */
const auditedPerMinute = 600;
/** No address has this name. */
const audited = 'audited';

export class AdminLimiter {
  constructor(private readonly failures: Counters) {}

  /** Throws admin_rate_limited. */
  async takeFailure(address: string): Promise<void> {
    const { admitted, resetMs } = await this.failures.take(peerOf(address), 1, failuresPerMinute);
    if (!admitted) throw adminRateLimited(failuresPerMinute, resetMs);
  }

  /** Throws admin_rate_limited where the address has used up its failures; takes nothing. */
  async check(address: string): Promise<void> {
    const { admitted, resetMs } = await this.failures.take(peerOf(address), 0, failuresPerMinute - 1);
    if (!admitted) throw adminRateLimited(failuresPerMinute, resetMs);
  }

  async mayAudit(): Promise<boolean> {
    return (await this.failures.take(audited, 1, auditedPerMinute)).admitted;
  }
}
