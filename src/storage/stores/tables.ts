/**
 * The tables as queries see them; `migrations/` creates them. All are in a PostgreSQL schema of their own, so that a shared
 * database is safe. No column holds text of prompts or answers.
 */
import { bigint, boolean, customType, doublePrecision, integer, pgSchema, primaryKey } from 'drizzle-orm/pg-core';
import type { ApiKey } from '../../domain/account.js';
import type { AttemptRecord, SkippedRoute, StreamEnd } from '../../domain/generation.js';
import type { ImportedFrom } from '../../domain/organisation.js';
import { type BillLines, billText, readBill } from '../../wire/cost.js';

/** PostgreSQL stores every character but U+0000; a name that contains one must not make its record unwritable. */
export function withoutNul(text: string): string {
  return text.includes('\u0000') ? text.replaceAll('\u0000', '') : text;
}

/** JSON for a column, without the one character that PostgreSQL cannot return as text. */
export function jsonWithoutNul(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes('\\u0000')) return text;
  return JSON.stringify(value, (_name, inner) => (typeof inner === 'string' ? withoutNul(inner) : inner));
}

export const cleanText = customType<{ data: string; driverData: string }>({
  dataType: () => 'text',
  toDriver: withoutNul,
});

/** Pico-dollars. */
const pico = customType<{ data: bigint; driverData: string }>({
  dataType: () => 'numeric(38,0)',
  toDriver: (amount) => amount.toString(),
  fromDriver: (text) => BigInt(text),
});

const epochMs = customType<{ data: number; driverData: string }>({
  dataType: () => 'timestamp with time zone',
  toDriver: (ms) => new Date(ms).toISOString(),
  fromDriver: (text) => Date.parse(text),
});

const bytes = customType<{ data: Buffer; driverData: Buffer }>({ dataType: () => 'bytea' });

const cleanJson = customType<{ data: unknown; driverData: string }>({
  dataType: () => 'json',
  toDriver: jsonWithoutNul,
});

/** JSON that is always read whole: as text it costs the server no check, and it may contain every character. */
const jsonText = customType<{ data: unknown; driverData: string }>({
  dataType: () => 'text',
  toDriver: (value) => JSON.stringify(value),
  fromDriver: (text) => JSON.parse(text),
});

/** The lines of a bill, which only a reader of one record needs. */
const billLines = customType<{ data: BillLines; driverData: string }>({
  dataType: () => 'text',
  toDriver: billText,
  fromDriver: readBill,
});

const lodestone = pgSchema('lodestone');

export const accounts = lodestone.table('accounts', {
  id: cleanText('id').primaryKey(),
  email: cleanText('email').notNull(),
  name: cleanText('name'),
  status: cleanText('status').$type<'active' | 'suspended'>().notNull().default('active'),
  billingCountry: cleanText('billing_country'),
  balancePico: pico('balance_pico').notNull().default(0n),
  usagePico: pico('usage_pico').notNull().default(0n),
  requestsPerMinute: bigint('requests_per_minute', { mode: 'number' }),
  tokensPerMinute: bigint('tokens_per_minute', { mode: 'number' }),
  /** The saved fallback chain; null for none. */
  fallbackModels: cleanJson('fallback_models'),
  /** null for the default. It may be of another version, so its type is unknown. */
  routingPolicy: cleanJson('routing_policy'),
  overdraft: cleanText('overdraft').$type<'open' | 'bounded'>(),
  creditLimitPico: pico('credit_limit_pico').notNull().default(0n),
  /** null for none; amounts as text. */
  budget: cleanText('budget'),
  settingsByKeys: boolean('settings_by_keys').notNull().default(true),
  recordEndUsers: boolean('record_end_users').notNull().default(false),
  budgetsCountOwnKeys: boolean('budgets_count_own_keys').notNull().default(true),
  importedFrom: jsonText('imported_from').$type<ImportedFrom>(),
  createdAt: epochMs('created_at').notNull(),
});

export const projects = lodestone.table('projects', {
  id: cleanText('id').primaryKey(),
  accountId: cleanText('account_id').notNull(),
  name: cleanText('name').notNull(),
  isDefault: boolean('is_default').notNull().default(false),
  budget: cleanText('budget'),
  requestsPerMinute: bigint('requests_per_minute', { mode: 'number' }),
  tokensPerMinute: bigint('tokens_per_minute', { mode: 'number' }),
  /** null where the account's alone holds. */
  routingPolicy: cleanJson('routing_policy'),
  trust: jsonText('trust').$type<unknown>().notNull().default([]),
  importedFrom: jsonText('imported_from').$type<unknown>(),
  createdAt: epochMs('created_at').notNull(),
});

export const keys = lodestone.table('keys', {
  id: cleanText('id').primaryKey(),
  accountId: cleanText('account_id').notNull(),
  name: cleanText('name').notNull(),
  lastFour: cleanText('last_four').notNull(),
  hash: bytes('hash'),
  expiresAt: epochMs('expires_at'),
  createdAt: epochMs('created_at').notNull(),
  usagePico: pico('usage_pico').notNull().default(0n),
  /** null for a key without restrictions. */
  terms: cleanJson('terms'),
  lastUsedAt: epochMs('last_used_at'),
  /** null for the account's default project, and for a management key of the whole account. */
  projectId: cleanText('project_id'),
  holderId: cleanText('holder_id'),
  /** It is verified by a token of another system. */
  brought: boolean('brought').notNull().default(false),
  importedFrom: cleanJson('imported_from').$type<ApiKey['importedFrom']>(),
  openingPico: pico('opening_pico').notNull().default(0n),
  /** Who exchanged a token for it; null for every other key. */
  workload: cleanJson('workload').$type<ApiKey['workload'] | null>(),
});

export const aliases = lodestone.table(
  'aliases',
  {
    accountId: cleanText('account_id').notNull(),
    name: cleanText('name').notNull(),
    provider: cleanText('provider').notNull(),
    canonicalId: cleanText('canonical_id').notNull(),
    locode: cleanText('locode'),
    createdAt: epochMs('created_at').notNull(),
    updatedAt: epochMs('updated_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.name] })],
);

/** Credits, adjustments, and the statements of pruned months. Usage entries are the billed generations (see the `ledger` view). */
export const ledgerPosts = lodestone.table('ledger_posts', {
  id: cleanText('id').primaryKey(),
  position: cleanText('position').notNull(),
  accountId: cleanText('account_id').notNull(),
  createdAt: epochMs('created_at').notNull(),
  kind: cleanText('kind').$type<'credit' | 'adjustment' | 'statement'>().notNull(),
  amountPico: pico('amount_pico').notNull(),
  note: cleanText('note'),
});

export const generations = lodestone.table(
  'generations',
  {
    id: cleanText('id').notNull(),
    requestId: cleanText('request_id').notNull(),
    accountId: cleanText('account_id').notNull(),
    keyId: cleanText('key_id').notNull(),
    keyName: cleanText('key_name').notNull(),
    createdAt: bigint('created_ms', { mode: 'number' }).notNull(),
    requestedModel: cleanText('requested_model').notNull(),
    servedModel: cleanText('served_model'),
    provider: cleanText('provider'),
    locode: cleanText('locode'),
    streamed: boolean('streamed').notNull(),
    status: integer('status').notNull(),
    promptTokens: bigint('prompt_tokens', { mode: 'number' }).notNull(),
    completionTokens: bigint('completion_tokens', { mode: 'number' }).notNull(),
    cachedTokens: bigint('cached_tokens', { mode: 'number' }).notNull(),
    reasoningTokens: bigint('reasoning_tokens', { mode: 'number' }).notNull(),
    costPico: pico('cost_pico').notNull(),
    billed: boolean('billed').notNull(),
    latencyMs: doublePrecision('latency_ms').notNull(),
    firstByteMs: doublePrecision('first_byte_ms'),
    providersAttempted: jsonText('providers_attempted').$type<string[]>().notNull(),
    fallbackOccurred: boolean('fallback_occurred').notNull(),
    finishReason: cleanText('finish_reason'),
    streamEnd: cleanText('stream_end').$type<StreamEnd>(),
    usageSource: cleanText('usage_source').$type<'provider' | 'counted' | 'estimated'>(),
    errorCode: cleanText('error_code'),
    attempts: jsonText('attempts').$type<AttemptRecord[]>().notNull(),
    bill: billLines('bill'),
    requestPolicy: jsonText('request_policy').$type<Record<string, unknown>>(),
    door: cleanText('door'),
    proof: cleanText('proof'),
    projectId: cleanText('project_id'),
    holderId: cleanText('holder_id'),
    credentialId: cleanText('credential_id'),
    credentialOwner: cleanText('credential_owner').$type<'project' | 'account'>(),
    notionalPico: pico('notional_pico'),
    countedPico: pico('counted_pico'),
    endUser: cleanText('end_user'),
    skipped: jsonText('skipped').$type<SkippedRoute[]>(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.id] })],
);

export const audit = lodestone.table('audit', {
  id: cleanText('id').primaryKey(),
  createdAt: epochMs('created_at').notNull(),
  actor: cleanText('actor').notNull(),
  action: cleanText('action').notNull(),
  subject: cleanText('subject').notNull(),
  details: cleanJson('details').$type<Record<string, unknown>>().notNull(),
  /** A trigger sets it, and the account where it is left out. */
  seq: bigint('seq', { mode: 'number' }).notNull().default(0),
  by: cleanText('acted_by'),
  accountId: cleanText('account_id'),
  address: cleanText('address'),
  leafIndex: bigint('leaf_index', { mode: 'number' }),
});
