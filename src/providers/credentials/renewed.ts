/**
 * Something that expires and is obtained again before it does: one attempt at a time, in the background while the old one
 * still holds, and not again at once after a failure.
 */
import type { Clock } from '../../base/time.js';
import { CredentialFault } from './credentials.js';

export interface Obtained<T> {
  readonly value: T;
  /** Epoch milliseconds; null where it has no end that is known. */
  readonly expiresAtMs: number | null;
}

export interface RenewedOptions<T> {
  readonly clock: Clock;
  obtain(): Promise<Obtained<T>>;
  /** What became of an attempt that failed, in words that a caller may see. */
  explain(error: unknown): string;
  readonly timeoutMs?: number;
}

const timeoutMsUsual = 10_000;
/** Renewed this long before its end, or at half of its life where that is short. */
const marginMs = 4 * 60_000;
/** What has no end is looked at again after this, because it may have been replaced. */
const endlessMs = 5 * 60_000;
/** Between two attempts. */
const pauseMs = 5_000;

export class Renewed<T> {
  private current: { value: T; renewAtMs: number; expiresAtMs: number } | null = null;
  private pending: Promise<T> | null = null;
  private pausedUntilMs = 0;
  private fault: CredentialFault | null = null;

  constructor(private readonly options: RenewedOptions<T>) {}

  /** At once where there is one that holds. */
  get(): T | Promise<T> {
    const nowMs = this.options.clock.now();
    const { current } = this;
    if (current === null || nowMs >= current.expiresAtMs) return this.renewal(nowMs);
    if (nowMs >= current.renewAtMs && nowMs >= this.pausedUntilMs) this.renewal(nowMs).catch(() => {});
    return current.value;
  }

  private renewal(nowMs: number): Promise<T> {
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
      const { value, expiresAtMs } = await this.withinTime(this.options.obtain());
      const nowMs = this.options.clock.now();
      const endMs = expiresAtMs ?? Number.POSITIVE_INFINITY;
      const renewAtMs = expiresAtMs === null ? nowMs + endlessMs : endMs - Math.min(marginMs, (endMs - nowMs) / 2);
      this.current = { value, renewAtMs, expiresAtMs: endMs };
      this.fault = null;
      return value;
    } catch (error) {
      this.fault = error instanceof CredentialFault ? error : new CredentialFault(this.options.explain(error));
      throw this.fault;
    }
  }

  private withinTime(obtaining: Promise<Obtained<T>>): Promise<Obtained<T>> {
    const { timeoutMs = timeoutMsUsual } = this.options;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new CredentialFault(`no credentials could be obtained within ${timeoutMs / 1000} seconds`));
      }, timeoutMs);
      obtaining.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  }
}
