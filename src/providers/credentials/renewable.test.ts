import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../tests/support/manual-clock.js';
import { CredentialFault } from './credentials.js';
import { type ExpiringValue, RenewableValue } from './renewable.js';

const hour = 3_600_000;

class Source {
  readonly clock = new ManualClock();
  asked = 0;
  private settle: { resolve(obtained: ExpiringValue<string>): void; reject(error: unknown): void }[] = [];
  readonly renewed = new RenewableValue<string>({
    clock: this.clock,
    timeoutMs: 50,
    explain: () => 'explained',
    obtain: () => {
      this.asked++;
      return new Promise((resolve, reject) => void this.settle.push({ resolve, reject }));
    },
  });

  async give(value: string, lifeMs: number | null = hour): Promise<void> {
    this.settle.shift()!.resolve({ value, expiresAtMs: lifeMs === null ? null : this.clock.now() + lifeMs });
    await turn();
  }

  async fail(error: unknown): Promise<void> {
    this.settle.shift()!.reject(error);
    await turn();
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const outcome = (value: unknown) => Promise.resolve(value).catch((error: Error) => error);

describe('what is renewed', () => {
  it('is obtained once for all who wait, and then given at once', async () => {
    const source = new Source();
    const waiting = [source.renewed.get(), source.renewed.get()];
    await source.give('a');
    expect(await Promise.all(waiting)).toEqual(['a', 'a']);
    expect([source.renewed.get(), source.asked]).toEqual(['a', 1]);
  });

  it('is renewed in the background before its end, once at a time, while the old one serves', async () => {
    const source = new Source();
    source.renewed.get();
    await source.give('a');
    source.clock.advance(hour - 4 * 60_000 - 1);
    expect([source.renewed.get(), source.asked]).toEqual(['a', 1]);
    source.clock.advance(1);
    expect([source.renewed.get(), source.renewed.get(), source.asked]).toEqual(['a', 'a', 2]);
    await source.give('b');
    expect([source.renewed.get(), source.asked]).toEqual(['b', 2]);
  });

  it('serves to its very end where renewing fails, and is asked for again only after a pause', async () => {
    const source = new Source();
    source.renewed.get();
    await source.give('a');
    source.clock.advance(hour - 60_000);
    source.renewed.get();
    await source.fail(new Error('down'));
    expect([source.renewed.get(), source.asked]).toEqual(['a', 2]);
    source.clock.advance(5_000);
    expect([source.renewed.get(), source.asked]).toEqual(['a', 3]);
    await source.fail(new Error('down'));
    source.clock.advance(55_000);
    const late = outcome(source.renewed.get());
    await source.give('b');
    expect(await late).toBe('b');
  });

  it('fails for all who wait with words of our own, and not at everybody\u2019s expense', async () => {
    const source = new Source();
    const waiting = [source.renewed.get(), source.renewed.get()].map(outcome);
    await source.fail(new Error('profile secret-name'));
    for (const error of await Promise.all(waiting)) expect(error).toEqual(new CredentialFault('explained'));
    expect(await outcome(source.renewed.get())).toEqual(new CredentialFault('explained'));
    expect(source.asked).toBe(1);
    source.clock.advance(5_000);
    const next = outcome(source.renewed.get());
    await source.give('a');
    expect([await next, source.asked]).toEqual(['a', 2]);
  });

  it('keeps a fault that explains itself', async () => {
    const source = new Source();
    const waiting = outcome(source.renewed.get());
    await source.fail(new CredentialFault('not installed'));
    expect(await waiting).toEqual(new CredentialFault('not installed'));
  });

  it('does not wait for ever', async () => {
    const source = new Source();
    expect(await outcome(source.renewed.get())).toEqual(
      new CredentialFault('no credentials could be obtained within 0.05 seconds'),
    );
  });

  it('is looked at again after a while where it has no end, and stays in use meanwhile', async () => {
    const source = new Source();
    source.renewed.get();
    await source.give('a', null);
    source.clock.advance(5 * 60_000);
    expect([source.renewed.get(), source.asked]).toEqual(['a', 2]);
    await source.give('b', null);
    expect(source.renewed.get()).toBe('b');
  });

  it('with a short life is renewed at half of it', async () => {
    const source = new Source();
    source.renewed.get();
    await source.give('a', 60_000);
    source.clock.advance(29_999);
    expect([source.renewed.get(), source.asked]).toEqual(['a', 1]);
    source.clock.advance(1);
    expect([source.renewed.get(), source.asked]).toEqual(['a', 2]);
  });
});
