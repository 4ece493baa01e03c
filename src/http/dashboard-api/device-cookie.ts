/**
 * A cookie that a browser gets when it signs in: it proves later that this browser knew the account's password once. It opens
 * nothing; it only keeps the guesses of others from counting against the owner (failure case H14).
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { cookieName, cookieValue } from '../../accounts/sign-in/cookies.js';

const yearSeconds = 365 * 86_400;

export class DeviceCookies {
  constructor(
    /** Made anew at each start: then every browser is a stranger again, which costs nothing but the privilege. */
    private readonly secret: Buffer,
    private readonly secure: boolean,
  ) {}

  /** The name of the browser, where it has signed in to this account before. */
  known(cookieHeader: string | undefined, email: string): string | null {
    const [device = '', proof = ''] = cookieValue(cookieHeader, this.name)?.split('.') ?? [];
    const expected = this.proof(device, email);
    const isProved = proof.length === expected.length && timingSafeEqual(Buffer.from(proof), Buffer.from(expected));
    return isProved ? device : null;
  }

  make(email: string): string {
    const device = randomBytes(12).toString('base64url');
    const attributes = `Max-Age=${yearSeconds}; Path=/; HttpOnly; SameSite=Strict${this.secure ? '; Secure' : ''}`;
    return `${this.name}=${device}.${this.proof(device, email)}; ${attributes}`;
  }

  private get name(): string {
    return cookieName('device', this.secure);
  }

  private proof(device: string, email: string): string {
    return createHmac('sha256', this.secret).update(`${device} ${email}`).digest('base64url');
  }
}
