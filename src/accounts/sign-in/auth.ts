/**
 * Sets up better-auth: email and password, sessions in the store, one cookie. It is not mounted as a handler. The dashboard's
 * own endpoints call it, so that every answer, check and limit is ours. Loading it takes most of a second, so it is imported
 * when the dashboard is first opened.
 */
import { createAuthEndpoint } from 'better-auth/api';
import { setSessionCookie } from 'better-auth/cookies';
import { betterAuth } from 'better-auth/minimal';
import type { DBAdapter, DBAdapterInstance, DBTransactionAdapter, Where } from 'better-auth/types';
import { z } from 'zod';
import { hashToken } from '../keys/token.js';
import { cookieAttributes, cookieName } from './cookies.js';
import { passwordLength } from './password-rules.js';

const daySeconds = 86_400;

interface AuthSettings {
  database: DBAdapterInstance;
  secret: string;
  /** The dashboard's URL, from the configuration and never from a request. */
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
    // The dashboard's own endpoints count guesses by account and by address.
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
        twoFactorAt: { type: 'date', required: false, input: false },
        issuer: { type: 'string', required: false, input: false },
        subject: { type: 'string', required: false, input: false },
        sid: { type: 'string', required: false, input: false },
        endsAt: { type: 'date', required: false, input: false },
      },
    },
    user: {
      additionalFields: {
        operator: { type: 'boolean', required: false, defaultValue: false, input: false },
        twoFactor: { type: 'boolean', required: false, defaultValue: false, input: false },
        status: { type: 'string', required: false, defaultValue: 'active', input: false },
      },
    },
    advanced: {
      // The library would add the prefix `__Secure-`. Ours is stricter and already part of the name.
      useSecureCookies: false,
      cookiePrefix: 'lodestone',
      cookies: { session_token: { name: cookieName('session', secure) } },
      defaultCookieAttributes: cookieAttributes(secure),
      ipAddress: { disableIpTracking: true },
    },
    plugins: [sessionOpener],
  });
}

const sessionFields = z.object({
  userId: z.string(),
  twoFactorAt: z.date().nullable(),
  issuer: z.string().nullable(),
  subject: z.string().nullable(),
  sid: z.string().nullable(),
  endsAt: z.date().nullable(),
});

/** Opens a session for a user that this service has authenticated by itself. No URL leads to it. */
const sessionOpener = {
  id: 'session-opener',
  endpoints: {
    openSession: createAuthEndpoint.serverOnly({ method: 'POST', body: sessionFields }, async (context) => {
      const { internalAdapter } = context.context;
      const user = await internalAdapter.findUserById(context.body.userId);
      if (!user) throw new Error('a session was to be opened for an account without a sign-in');
      const { userId: _, ...fields } = context.body;
      const session = await internalAdapter.createSession(user.id, false, fields);
      await setSessionCookie(context, { session, user });
      return { token: session.token };
    }),
  },
} as const;

/**
 * Keeps session tokens out of the store: wraps better-auth's adapter so that a session row holds the SHA-256 of its token,
 * while better-auth itself sees the token of the cookie. The secret that signs cookies is in the same store, so a plain token
 * would let anyone with a copy of the store sign in.
 */
function hashSessionTokens(database: DBAdapterInstance): DBAdapterInstance {
  return (options) => {
    const adapter = database(options);
    const transaction: DBAdapter['transaction'] = (run) => adapter.transaction((inner) => run(wrap(inner)));
    return { ...wrap(adapter), transaction };
  };
}

interface Query {
  model: string;
  where?: Where[] | undefined;
}

function wrap(adapter: DBTransactionAdapter): DBTransactionAdapter {
  const wrapped: DBTransactionAdapter = {
    ...adapter,
    async create<T extends Record<string, unknown>, R = T>(query: Parameters<typeof adapter.create>[0]) {
      const { token } = query.data as { token?: unknown };
      if (query.model !== 'session' || typeof token !== 'string') return adapter.create<T, R>(query as never);
      const row = await adapter.create<T, R>({ ...query, data: { ...query.data, token: hashOf(token) } } as never);
      return { ...row, token };
    },
    findOne: async <T>(query: Parameters<typeof adapter.findOne>[0]) => {
      const { hashed, shown } = translate(query);
      return shown(await adapter.findOne<T>(hashed));
    },
    findMany: async <T>(query: Parameters<typeof adapter.findMany>[0]) => {
      const { hashed, shown } = translate(query);
      return (await adapter.findMany<T>(hashed)).map(shown);
    },
    update: async <T>(query: Parameters<typeof adapter.update>[0]) => {
      const { hashed, shown } = translate(query);
      return shown(await adapter.update<T>(hashed));
    },
    consumeOne: async <T>(query: Parameters<typeof adapter.consumeOne>[0]) => {
      const { hashed, shown } = translate(query);
      return shown(await adapter.consumeOne<T>(hashed));
    },
    incrementOne: async <T>(query: Parameters<typeof adapter.incrementOne>[0]) => {
      const { hashed, shown } = translate(query);
      return shown(await adapter.incrementOne<T>(hashed));
    },
    updateMany: (query) => adapter.updateMany(translate(query).hashed),
    delete: (query) => adapter.delete(translate(query).hashed),
    deleteMany: (query) => adapter.deleteMany(translate(query).hashed),
    count: (query) => adapter.count(translate(query).hashed),
  };
  return wrapped;
}

/**
 * Replaces the tokens of a query by their hashes, and returns a function that puts the tokens back into the resulting rows.
 */
function translate<Q extends Query>(query: Q): { hashed: Q; shown: <R>(row: R) => R } {
  if (query.model !== 'session' || !query.where) return { hashed: query, shown: (row) => row };
  const tokens = new Map<string, string>();
  const hash = (token: string): string => {
    const hashed = hashOf(token);
    tokens.set(hashed, token);
    return hashed;
  };
  const where = query.where.map((condition) =>
    condition.field === 'token' ? ({ ...condition, value: hashEach(condition.value, hash) } as Where) : condition,
  );
  const shown = <R>(row: R): R => {
    const { token } = (row ?? {}) as { token?: string };
    const asked = token === undefined ? undefined : tokens.get(token);
    return asked === undefined ? row : { ...row, token: asked };
  };
  return { hashed: { ...query, where }, shown };
}

function hashEach(value: unknown, hash: (token: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => hashEach(item, hash));
  return typeof value === 'string' ? hash(value) : value;
}

function hashOf(token: string): string {
  return hashToken(token).toString('hex');
}
