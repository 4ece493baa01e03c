/** What the store knows of the audit log. */

export interface NewAuditEntry {
  id: string;
  createdAt: number;
  /** `operator`, `account:{id}` or `system`. */
  actor: string;
  /** Who it was more exactly: `person:{id}`, `key:{id}` or `admin_token`; null where it is not known. */
  by?: string | null;
  /** The account that it concerns. Where it is left out, the store takes it from details, subject or actor. */
  accountId?: string | null;
  /** The address that it was done from; null where it is not known. */
  address?: string | null;
  /** Such as `key.create`. */
  action: string;
  /** The changed object, such as an account id. */
  subject: string;
  details: Record<string, unknown>;
}

export interface AuditEntry extends Required<NewAuditEntry> {
  /** Its number, from 1 and without gaps. */
  seq: number;
  /** Its place in the log; null where it waits, or is from before the log had the audit. */
  leafIndex: number | null;
}

export interface AuditStore {
  add(entry: NewAuditEntry): Promise<void>;
  /** Newest first. */
  list(limit: number, filter?: AuditFilter): Promise<AuditEntry[]>;
  /** Whether the account has an entry with this id. */
  has(accountId: string, id: string): Promise<boolean>;
  /** Resolves when the entries up to now are leaves of the log, or after that time. */
  sealed(waitMs: number): Promise<void>;
}

export interface AuditFilter {
  actor?: string;
  /** An action such as `key.create`, or its first part for all actions that begin with it. */
  action?: string;
  subjects?: readonly string[];
  accountId?: string;
  /** Only entries before this id. */
  before?: string;
}
