/**
 * better-auth, set up for this product: e-mail and password, sessions in the store, one cookie. It is never mounted as a
 * handler: the dashboard's own endpoints call it, so that every answer, check and limit is ours. Costs most of a second to
 * load, so it is imported when somebody first opens the dashboard.
 */
import { createAuthEndpoint } from 'better-auth/api';
import { setSessionCookie } from 'better-auth/cookies';
import { betterAuth } from 'better-auth/minimal';
import type { DBAdapterInstance } from 'better-auth/types';
import { z } from 'zod';
import { cookieAttributes, cookieName } from './cookies.js';
import { hashSessionTokens } from './hashed-tokens.js';
import { passwordLength } from './password-rules.js';

const daySeconds = 86_400;

export interface AuthSettings {
  database: DBAdapterInstance;
  secret: string;
  /** The dashboard's address, from the configuration and never from a request. */
  baseUrl: string;
  /** Cookies are `__Host-` and `Secure`; false only on plain http. */
  secure: boolean;
}

export type Auth = ReturnType<typeof createAuth>;

export function createAuth({ database, secret, baseUrl, secure }: AuthSettings) {
  return betterAuth({
    database: hashSessionTokens(database),
    secret,
    baseURL: baseUrl,
    telemetry: { enabled: false },
    logger: { disabled: true },
    // Guesses are counted by the dashboard's own endpoints, by account and by address.
    rateLimit: { enabled: false },
    emailAndPassword: {
      enabled: true,
      minPasswordLength: passwordLength.min,
      maxPasswordLength: passwordLength.max,
    },
    session: {
      expiresIn: 7 * daySeconds,
      updateAge: daySeconds,
      additionalFields: {
        operatorUntil: { type: 'date', required: false, input: false },
        operatorProof: { type: 'string', required: false, input: false },
      },
    },
    user: { additionalFields: { operator: { type: 'boolean', required: false, defaultValue: false, input: false } } },
    advanced: {
      // The prefix that it would add itself is `__Secure-`; ours is the stricter one and part of the name.
      useSecureCookies: false,
      cookiePrefix: 'lodestone',
      cookies: { session_token: { name: cookieName('session', secure) } },
      defaultCookieAttributes: cookieAttributes(secure),
      ipAddress: { disableIpTracking: true },
    },
    plugins: [sessionOpener],
  });
}

/** Opens a session for a user that has proved who it is in a way of ours; no path leads to it. */
const sessionOpener = {
  id: 'session-opener',
  endpoints: {
    openSession: createAuthEndpoint.serverOnly(
      { method: 'POST', body: z.object({ userId: z.string() }) },
      async (context) => {
        const { internalAdapter } = context.context;
        const user = await internalAdapter.findUserById(context.body.userId);
        if (!user) throw new Error('a session was to be opened for an account without a sign-in');
        const session = await internalAdapter.createSession(user.id);
        await setSessionCookie(context, { session, user });
        return { token: session.token };
      },
    ),
  },
} as const;
