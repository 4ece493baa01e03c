/**
 * The leaf of one entry of the audit log: canonical JSON (RFC 8785) with fixed members, in which a subject that may be an email, a name or
 * an address stands as HMAC-SHA-256. Leaves are made again from stored entries and from exports, so their form never changes.
 */
import { createHmac } from 'node:crypto';
import { canonicalDigest, canonicalJson } from '../base/canonical-json.js';
import { leafHash } from './merkle.js';

export const auditType = 'lodestone-audit/1';
export const auditExportType = 'lodestone-audit-export/1';
/** The entry that says how many came before the log had the audit. */
export const beginAction = 'audit.begin';

/** What an entry says, in clear. */
export interface AuditFacts {
  readonly seq: number;
  /** RFC 3339, UTC, with milliseconds. */
  readonly at: string;
  readonly actor: string;
  readonly account: string | null;
  readonly action: string;
  readonly subject: string;
  readonly address: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

/** In the order of an export. */
export const leafMembers = ['type', 'seq', 'at', 'actor', 'account', 'action', 'subject', 'details_sha256'] as const;
export type AuditLeafJson = Readonly<Record<(typeof leafMembers)[number], string | number | null>>;

export function auditLeaf(facts: AuditFacts, key: Uint8Array): AuditLeafJson {
  const { seq, at, actor, account, action, subject } = facts;
  return {
    ...{ type: auditType, seq, at, actor, account, action },
    subject: isPublic(facts) ? subject : hmacHex(subject, key),
    details_sha256: canonicalDigest(sealedDetails(facts)),
  };
}

export function auditLeafHash(leaf: AuditLeafJson): Buffer {
  return leafHash(Buffer.from(canonicalJson(leaf), 'utf8'));
}

/** A line of an export: the entry's id, the members of the leaf, the details, and in clear what the leaf hides. */
export function auditExportLine(
  id: string,
  facts: AuditFacts,
  { key, isLogged }: { key: Uint8Array; isLogged: boolean },
): string {
  return JSON.stringify({
    ...{ id, ...auditLeaf(facts, key), details: sealedDetails(facts) },
    ...(!isPublic(facts) && { clear: { subject: facts.subject } }),
    ...(!isLogged && { logged: false }),
  });
}

/** Lower-case hexadecimal. */
export function hmacHex(text: string, key: Uint8Array): string {
  return createHmac('sha256', key).update(text, 'utf8').digest('hex');
}

/** The address is one of the details, so that the leaf covers it. */
function sealedDetails({ details, address }: AuditFacts): Record<string, unknown> {
  const whole = address === null ? details : { ...details, address };
  return wholeCharacters(whole) as Record<string, unknown>;
}

/** Canonical JSON has no form for half a character, which a name may hold. */
function wholeCharacters(value: unknown): unknown {
  if (typeof value === 'string') return Buffer.from(value, 'utf8').toString('utf8');
  if (Array.isArray(value)) return value.map(wholeCharacters);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [wholeCharacters(name), wholeCharacters(inner)]),
  );
}

/** Ids of accounts, people, projects and so on, which say nothing about anybody. */
const idForm = /^[a-z]{2,6}-[0-9a-hjkmnp-tv-z]{26}$/;
const keyIdForm = /^[\w-]{8,32}$/;
/** What these actions are about is a part of the gateway, such as a route or a version. */
const ownParts = new Set(['audit', 'catalogue', 'hold', 'log', 'model', 'storage']);

/** Whatever is not known to be harmless is hidden. */
function isPublic({ action, subject }: AuditFacts): boolean {
  const [group = ''] = action.split('.', 1);
  return ownParts.has(group) || idForm.test(subject) || (group === 'key' && keyIdForm.test(subject));
}
