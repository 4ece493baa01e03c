/**
 * A value that expires and is renewed before it does: one renewal at a time, in the background while the old value is valid, and
 * with a pause after a failure.
 */

import type { Clock } from '../../base/time.js';
import type { MaybePromise } from '../../base/turn.js';
import { CredentialFault } from './credentials.js';

export interface ExpiringValue<T> {
  readonly value: T;
  /** Epoch milliseconds; null where no expiry is known. */
  readonly expiresAtMs: number | null;
}

interface RenewableOptions<T> {
  readonly clock: Clock;
  obtain(): Promise<ExpiringValue<T>>;
  /** Why an attempt failed, in words that a client may see. */
  explain(error: unknown): string;
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 10_000;
/** Renewed this long before expiry, or after half of its lifetime where that is shorter. */
const marginMs = 4 * 60_000;
/** A value without an expiry is obtained again after this time, because it may have been replaced. */
const noExpiryMs = 5 * 60_000;
/** Between two renewals. */
const pauseMs = 5_000;

export class RenewableValue<T> {
  private current: { value: T; renewAtMs: number; expiresAtMs: number } | null = null;
  private pending: Promise<T> | null = null;
  private pausedUntilMs = 0;
  private fault: CredentialFault | null = null;

  constructor(private readonly options: RenewableOptions<T>) {}

  /** Returns a valid value directly, and a promise only where there is none. */
  get(): MaybePromise<T> {
    const nowMs = this.options.clock.now();
    const { current } = this;
    if (current === null || nowMs >= current.expiresAtMs) return this.startRenewal(nowMs);
    if (nowMs >= current.renewAtMs && nowMs >= this.pausedUntilMs) this.startRenewal(nowMs).catch(() => {});
    return current.value;
  }

  private startRenewal(nowMs: number): Promise<T> {
    if (this.pending === null) {
      if (this.fault !== null && nowMs < this.pausedUntilMs) return Promise.reject(this.fault);
      this.pending = this.renew().finally(() => {
        this.pending = null;
        this.pausedUntilMs = this.options.clock.now() + pauseMs;
      });
    }
    return this.pending;
  }

  private async renew(): Promise<T> {
    try {
      const { value, expiresAtMs } = await this.withTimeout(this.options.obtain());
      const nowMs = this.options.clock.now();
      const endMs = expiresAtMs ?? Number.POSITIVE_INFINITY;
      const renewAtMs = expiresAtMs === null ? nowMs + noExpiryMs : endMs - Math.min(marginMs, (endMs - nowMs) / 2);
      this.current = { value, renewAtMs, expiresAtMs: endMs };
      this.fault = null;
      return value;
    } catch (error) {
      this.fault = error instanceof CredentialFault ? error : new CredentialFault(this.options.explain(error));
      throw this.fault;
    }
  }

  private withTimeout(obtaining: Promise<ExpiringValue<T>>): Promise<ExpiringValue<T>> {
    const { timeoutMs = defaultTimeoutMs } = this.options;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new CredentialFault(`no credentials could be obtained within ${timeoutMs / 1000} seconds`));
      }, timeoutMs);
      obtaining.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  }
}
