/** The tables for signing in as better-auth's adapter needs them: its names for models and fields, times as dates. */
import { boolean, pgSchema, text, timestamp } from 'drizzle-orm/pg-core';
import { cleanText } from './tables.js';

const lodestone = pgSchema('lodestone');
const moment = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' });

/** A user is a person. Who signed up with an account has the account's id. */
export const user = lodestone.table('sign_in_users', {
  id: text('id').primaryKey(),
  name: cleanText('name').notNull(),
  email: cleanText('email').notNull(),
  emailVerified: boolean('email_verified').notNull().default(false),
  image: text('image'),
  operator: boolean('operator').notNull().default(false),
  twoFactor: boolean('two_factor').notNull().default(false),
  status: text('status').notNull().default('active'),
  createdAt: moment('created_at').notNull(),
  updatedAt: moment('updated_at').notNull(),
});

export const session = lodestone.table('sign_in_sessions', {
  id: text('id').primaryKey(),
  userId: text('user_id').notNull(),
  /** The hash of the cookie's token. */
  token: cleanText('token').notNull(),
  operatorUntil: moment('operator_until'),
  operatorProof: text('operator_proof'),
  twoFactorAt: moment('two_factor_at'),
  /** Who an identity provider says that it is: the next three are null in a session that it did not open. */
  issuer: text('issuer'),
  subject: text('subject'),
  sid: text('sid'),
  endsAt: moment('ends_at'),
  ipAddress: text('ip_address'),
  userAgent: text('user_agent'),
  expiresAt: moment('expires_at').notNull(),
  createdAt: moment('created_at').notNull(),
  updatedAt: moment('updated_at').notNull(),
});

/** Password hashes: one row for each user and way to sign in. */
export const account = lodestone.table('sign_in_credentials', {
  id: text('id').primaryKey(),
  accountId: text('account_id').notNull(),
  providerId: text('provider_id').notNull(),
  userId: text('user_id').notNull(),
  accessToken: text('access_token'),
  refreshToken: text('refresh_token'),
  idToken: text('id_token'),
  accessTokenExpiresAt: moment('access_token_expires_at'),
  refreshTokenExpiresAt: moment('refresh_token_expires_at'),
  scope: text('scope'),
  password: text('password'),
  createdAt: moment('created_at').notNull(),
  updatedAt: moment('updated_at').notNull(),
});

export const verification = lodestone.table('sign_in_tokens', {
  id: text('id').primaryKey(),
  identifier: cleanText('identifier').notNull(),
  value: text('value').notNull(),
  expiresAt: moment('expires_at').notNull(),
  createdAt: moment('created_at').notNull(),
  updatedAt: moment('updated_at').notNull(),
});
