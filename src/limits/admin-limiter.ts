/**
 * Limits failed admin authentications by address. While the limit is reached, the right token is refused too: otherwise
 * guessing could go on, and the one different answer would reveal the token. An address that has sent the right token before
 * is exempt, so that nobody who shares the operator's address can lock the operator out.
 */
import type { Clock } from '../base/time.js';
import type { Counters } from '../cluster/ports.js';
import { type GatewayError, gatewayError } from '../errors/gateway-error.js';
import { peerOf, retryAfterSeconds } from './rate-limits.js';

const failuresPerMinute = 20;
/** The failures written to the audit log in one minute. Many addresses at once must not fill the store. */
const auditedPerMinute = 600;
/** The counter of audited failures; no address has this name. */
const audited = 'audited';

/** How long, and how many, addresses are remembered for having sent the right token. */
const trustedMs = 12 * 3_600_000;
const trustedMax = 1_000;

export class AdminLimiter {
  /** When each address last sent the right token, oldest first. */
  private readonly trusted = new Map<string, number>();

  constructor(
    private readonly failures: Counters,
    private readonly clock: Clock,
  ) {}

  /** Throws admin_rate_limited. */
  async takeFailure(address: string): Promise<void> {
    const { admitted, resetMs } = await this.failures.take(peerOf(address), 1, failuresPerMinute);
    if (!admitted) throw rateLimited(resetMs);
  }

  /**
   * Admits a right token. Throws admin_rate_limited where the address has used up its failures and never sent the right
   * token.
   */
  async admit(address: string): Promise<void> {
    const peer = peerOf(address);
    const nowMs = this.clock.monotonicMs();
    const trustedAtMs = this.trusted.get(peer);
    if (trustedAtMs === undefined || nowMs - trustedAtMs > trustedMs) {
      const { admitted, resetMs } = await this.failures.take(peer, 0, failuresPerMinute - 1);
      if (!admitted) throw rateLimited(resetMs);
    }
    this.trusted.delete(peer);
    this.trusted.set(peer, nowMs);
    if (this.trusted.size > trustedMax) this.trusted.delete(this.trusted.keys().next().value!);
  }

  async mayAudit(): Promise<boolean> {
    return (await this.failures.take(audited, 1, auditedPerMinute)).admitted;
  }
}

function rateLimited(resetMs: number): GatewayError {
  const seconds = retryAfterSeconds(resetMs);
  return gatewayError('admin_rate_limited', { limit: failuresPerMinute, seconds }, { retryAfterSeconds: seconds });
}
