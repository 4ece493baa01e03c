/** A sign-in under way, sealed in a cookie of the browser that began it, so that it may come back to any replica. */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../base/time.js';
import { cookieName, cookieValue } from '../cookies.js';
import { SignInFault } from './faults.js';

export interface Flow {
  /** The id of the provider in the configuration. */
  readonly provider: string;
  readonly state: string;
  readonly nonce: string;
  /** Of PKCE. */
  readonly verifier: string;
  /** The same at the provider's token endpoint, which compares it. */
  readonly redirectUri: string;
  readonly beganAt: number;
  /** The person who has asked to link an identity while signed in; null for a sign-in. */
  readonly linkTo: string | null;
}

export const flowMs = 10 * 60_000;

interface FlowCookieDeps {
  readonly clock: Pick<Clock, 'now'>;
  /** 32 bytes, the same in every process on this store. */
  readonly key: () => Promise<Buffer>;
  readonly secure: boolean;
}

export class FlowCookie {
  constructor(private readonly deps: FlowCookieDeps) {}

  new(about: Pick<Flow, 'provider' | 'redirectUri' | 'linkTo'>): Flow {
    const random = () => randomBytes(32).toString('base64url');
    return { ...about, state: random(), nonce: random(), verifier: random(), beganAt: this.deps.clock.now() };
  }

  /** The `Set-Cookie` value. `Lax`, because the browser comes back from another site. */
  async seal(flow: Flow): Promise<string> {
    const { EncryptJWT } = await import('jose');
    const sealed = await new EncryptJWT({ flow })
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
      .setExpirationTime(Math.ceil((flow.beganAt + flowMs) / 1000))
      .encrypt(await this.deps.key());
    return `${this.name}=${sealed}; Max-Age=${flowMs / 1000}; ${this.attributes}`;
  }

  get ended(): string {
    return `${this.name}=; Max-Age=0; ${this.attributes}`;
  }

  /** The sign-in that the browser began. Throws SignInFault. */
  async open(cookieHeader: string | undefined): Promise<Flow> {
    const sealed = cookieValue(cookieHeader, this.name);
    if (!sealed) throw new SignInFault('state_missing');
    const { jwtDecrypt } = await import('jose');
    try {
      const { payload } = await jwtDecrypt(sealed, await this.deps.key(), {
        ...{ keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] },
        currentDate: new Date(this.deps.clock.now()),
      });
      return payload.flow as Flow;
    } catch (error) {
      if (!String((error as { code?: unknown }).code).startsWith('ERR_J')) throw error;
      throw new SignInFault('state_missing');
    }
  }

  private get name(): string {
    return cookieName('oidc', this.deps.secure);
  }

  private get attributes(): string {
    return `Path=/; HttpOnly; SameSite=Lax${this.deps.secure ? '; Secure' : ''}`;
  }
}
