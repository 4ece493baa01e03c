/**
 * A cookie that a browser gets when it signs in: it proves later that this browser knew the account's password once. It opens
 * nothing; it only keeps the guesses of others from counting against the owner (failure case H14).
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { cookieName, cookieValue } from '../../accounts/sign-in/cookies.js';

const yearSeconds = 365 * 86_400;

export class DeviceCookies {
  constructor(
    /** The same in every process of a fleet, or a browser would be a stranger to all but the one that it signed in at. */
    private readonly key: () => Promise<Buffer>,
    private readonly secure: boolean,
  ) {}

  /** The name of the browser, where it has signed in to this account before. */
  async known(cookieHeader: string | undefined, email: string): Promise<string | null> {
    const cookie = cookieValue(cookieHeader, this.name);
    if (cookie === undefined) return null;
    const [device = '', proof = ''] = cookie.split('.');
    const expected = Buffer.from(await this.proof(device, email));
    const given = Buffer.from(proof);
    return given.length === expected.length && timingSafeEqual(given, expected) ? device : null;
  }

  async make(email: string): Promise<string> {
    const device = randomBytes(12).toString('base64url');
    const attributes = `Max-Age=${yearSeconds}; Path=/; HttpOnly; SameSite=Strict${this.secure ? '; Secure' : ''}`;
    return `${this.name}=${device}.${await this.proof(device, email)}; ${attributes}`;
  }

  private get name(): string {
    return cookieName('device', this.secure);
  }

  private async proof(device: string, email: string): Promise<string> {
    return createHmac('sha256', await this.key())
      .update(`${device} ${email}`)
      .digest('base64url');
  }
}
