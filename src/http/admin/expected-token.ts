/** Compares what a request shows with a token that a reload may replace, in constant time. */
import { timingSafeEqual } from 'node:crypto';
import { hashToken } from '../../accounts/keys/token.js';

export class ExpectedToken {
  private token: string | null = null;
  private hash: Buffer | null = null;

  /** null = no token opens this. */
  constructor(private readonly current: () => string | null) {}

  /** Hashes have one length, so the comparison does not reveal the length of the token. */
  isShownAs(text: string): boolean {
    const token = this.current();
    if (token !== this.token) {
      this.token = token;
      this.hash = token === null ? null : hashToken(token);
    }
    return this.hash !== null && timingSafeEqual(this.hash, hashToken(text));
  }
}
