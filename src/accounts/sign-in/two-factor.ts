/**
 * Two-factor sign-in with the codes of an authenticator app (TOTP: six digits, 30 seconds), or with recovery codes. A code works
 * once. The store has the secret encrypted and recovery codes as hashes.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../base/time.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { TwoFactorStore } from '../../storage/store.js';
import { type AuditLog, personAt } from '../audit.js';
import { hashToken } from '../keys/token.js';
import type { SignInOwner } from './session.js';
import type { SignIns } from './sign-ins.js';

const issuer = 'Lodestone';
const stepMs = 30_000;
/** The steps around the current one whose codes are accepted, for clocks that differ. */
const stepsAround = [-1, 0, 1];
const recoveryCount = 10;

interface TwoFactorDeps {
  store: TwoFactorStore;
  signIns: Pick<SignIns, 'keyFor' | 'endSessions'>;
  audit: Pick<AuditLog, 'record'>;
  clock: Pick<Clock, 'now'>;
}

interface TwoFactorOffer {
  /** For typing in, in base 32. */
  secret: string;
  /** The same as an address that authenticator apps read from a QR code. */
  url: string;
}

export class TwoFactor {
  constructor(private readonly deps: TwoFactorDeps) {}

  /** Makes a secret, which counts once a code of it is shown. Throws two_factor_on where it is on already. */
  async begin(person: SignInOwner): Promise<TwoFactorOffer> {
    const secret = randomBytes(18).toString('base64url');
    const { symmetricEncrypt } = await import('better-auth/crypto');
    const encrypted = await symmetricEncrypt({ key: await this.key(), data: secret });
    if (!(await this.deps.store.offer(person.id, encrypted))) throw gatewayError('two_factor_on');
    const url = (await otpOf(secret)).url(issuer, person.email);
    return { secret: new URL(url).searchParams.get('secret') ?? '', url };
  }

  /**
   * Turns it on with a first code, and ends every session of the person, because none has passed it. Returns the recovery codes;
   * null where the code is wrong. `from` is the address that it is asked from.
   */
  async confirm(person: SignInOwner, code: string, from: string): Promise<string[] | null> {
    const { store, signIns, audit } = this.deps;
    const entry = await store.find(person.id);
    if (!entry) throw gatewayError('two_factor_off');
    if (entry.confirmed) throw gatewayError('two_factor_on');
    const step = await this.stepOf(entry.secret, digitsOf(code));
    if (step === null) return null;
    const codes = Array.from({ length: recoveryCount }, newRecoveryCode);
    if (!(await store.confirm(person.id, entry.secret, step, codes.map(hashOf)))) return null;
    await signIns.endSessions(person.id);
    await audit.record(personAt(person.id, from), 'account.two_factor_on', person.id);
    return codes;
  }

  /** Whether sign-in asks for a code. */
  async isOn(personId: string): Promise<boolean> {
    return (await this.deps.store.find(personId))?.confirmed === true;
  }

  /** Uses up a code of the app or a recovery code. Returns false where it is wrong or was used. */
  async use(personId: string, code: string, from: string): Promise<boolean> {
    const { store, audit } = this.deps;
    const entry = await store.find(personId);
    if (!entry?.confirmed) throw gatewayError('two_factor_off');
    const digits = digitsOf(code);
    if (/^\d{6}$/.test(digits)) {
      const step = await this.stepOf(entry.secret, digits);
      return step !== null && (await store.useStep(personId, step));
    }
    if (!(await store.useRecoveryCode(personId, hashOf(code)))) return false;
    const left = await store.recoveryCodesLeft(personId);
    await audit.record(personAt(personId, from), 'account.recovery_code', personId, { left });
    return true;
  }

  async turnOff(person: SignInOwner, from: string): Promise<void> {
    await this.deps.store.remove(person.id);
    await this.deps.audit.record(personAt(person.id, from), 'account.two_factor_off', person.id);
  }

  /** For a lost device: turns it off and ends every session. Returns false where it was off. */
  async reset(personId: string): Promise<boolean> {
    if (!(await this.deps.store.remove(personId))) return false;
    await this.deps.signIns.endSessions(personId);
    return true;
  }

  recoveryCodesLeft(personId: string): Promise<number> {
    return this.deps.store.recoveryCodesLeft(personId);
  }

  /** The time step that the code belongs to; null where it belongs to none that is accepted now. */
  private async stepOf(encrypted: string, code: string): Promise<number | null> {
    const { symmetricDecrypt } = await import('better-auth/crypto');
    const otp = await otpOf(await symmetricDecrypt({ key: await this.key(), data: encrypted }));
    const now = Math.floor(this.deps.clock.now() / stepMs);
    for (const around of stepsAround) {
      // Both are six digits that change every 30 seconds, so the time of the comparison tells nothing worth knowing.
      if ((await otp.hotp(now + around)) === code) return now + around;
    }
    return null;
  }

  private async key(): Promise<string> {
    return (await this.deps.signIns.keyFor('two-factor secrets')).toString('base64url');
  }
}

/** Loaded with better-auth, when somebody uses it. */
async function otpOf(secret: string) {
  const { createOTP } = await import('@better-auth/utils/otp');
  return createOTP(secret, { digits: 6, period: stepMs / 1000 });
}

/** People type codes with a space in the middle. */
function digitsOf(code: string): string {
  return code.replace(/\s/g, '');
}

const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789';

/** 80 bits in 16 characters that are not mistaken for one another, in groups of four. */
function newRecoveryCode(): string {
  const characters = Array.from(randomBytes(16), (byte) => alphabet[byte % alphabet.length]).join('');
  return characters.replace(/(.{4})(?=.)/g, '$1-');
}

function hashOf(recoveryCode: string): string {
  return hashToken(recoveryCode.toLowerCase().replace(/[^a-z0-9]/g, '')).toString('hex');
}
