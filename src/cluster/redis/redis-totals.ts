/** Sums in Redis. A sum lives for two days, longer than any that is asked for: those of a UTC day. */
import type { Totals } from '../totals.js';
import { patientWaitMs, type RedisLink } from './link.js';
import { addTotalScript, raiseTotalScript } from './scripts.js';

const livesMs = String(2 * 24 * 60 * 60 * 1000);

export class RedisTotals implements Totals {
  constructor(private readonly link: RedisLink) {}

  add(name: string, amount: number): Promise<number | null> {
    return this.link.run<number>(addTotalScript, [this.keyOf(name)], [String(amount), livesMs], patientWaitMs);
  }

  async atLeast(name: string, amount: number): Promise<void> {
    await this.link.run(raiseTotalScript, [this.keyOf(name)], [String(amount), livesMs], patientWaitMs);
  }

  private keyOf(name: string): string {
    return `${this.link.prefix}t:${name}`;
  }
}
