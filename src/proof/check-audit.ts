/**
 * Checks an export of the audit log: that no number is missing, and that each entry is a leaf of the transparency log, as it stands in the
 * export. What the leaf does not cover is no part of a line, except for the id of the entry.
 */
import { canonicalDigest } from '../base/canonical-json.js';
import {
  type AuditLeafJson,
  auditExportType,
  auditLeafHash,
  auditType,
  beginAction,
  hmacHex,
  leafMembers,
} from './audit-leaf.js';

interface Row {
  readonly seq: number;
  readonly leaf: AuditLeafJson;
  readonly details: unknown;
  /** The line says that it is from before the log had the audit. */
  readonly isOld: boolean;
}

const allowed = new Set<string>([...leafMembers, 'id', 'details', 'clear', 'logged']);
const hmacForm = /^[0-9a-f]{64}$/;
const namedMax = 100;

export class AuditExport {
  /** What does not hold in the export itself. */
  readonly faults: string[] = [];
  private readonly rows: Row[] = [];
  /** The places in `rows` by leaf hash. */
  private readonly places = new Map<string, number[]>();
  private readonly found = new Set<number>();
  private key: Buffer = Buffer.alloc(0);
  private origin: string | null = null;
  private lines = 0;

  /** Takes the next line of the file. */
  add(line: string): void {
    this.lines++;
    const value = objectIn(line);
    if (this.lines === 1) return void this.readHead(value);
    if (value === null) return void this.faults.push(`Line ${this.lines} is not an entry of the audit log.`);
    const { seq } = value;
    if (typeof seq !== 'number' || !Number.isSafeInteger(seq) || seq < 1)
      return void this.faults.push(`Line ${this.lines} has no number (seq).`);
    const wrong = rowFault(value, this.key);
    if (wrong !== null) this.fault(`Entry ${seq} ${wrong}`);
    const leaf = Object.fromEntries(leafMembers.map((name) => [name, value[name] ?? null])) as AuditLeafJson;
    const hash = leafKey(leaf);
    const at = this.rows.push({ seq, leaf, details: value.details, isOld: value.logged === false }) - 1;
    if (hash === null) return;
    this.places.set(hash, [...(this.places.get(hash) ?? []), at]);
  }

  /** Takes a leaf of the log, whose hash is one character a byte. */
  see(hash: string): void {
    for (const at of this.places.get(hash) ?? []) this.found.add(at);
  }

  /** What was found to be right, and what not, once all lines and all leaves are there. */
  verdict(origin: string): { checked: string[]; faults: string[] } {
    if (this.lines === 0) this.fault('The export is empty.');
    if (this.origin !== null && this.origin !== origin)
      this.fault(`The export is of the log ${this.origin}, the gateway names its log ${origin}.`);
    this.checkNumbers();
    const old = this.oldRows();
    for (const [at, { seq, isOld }] of this.rows.entries()) {
      if (this.found.has(at)) {
        if (isOld) this.fault(`Entry ${seq} says that it has no leaf, but it is in the log.`);
      } else if (at >= old)
        this.fault(`Entry ${seq} is not in the log as it stands here: it was changed, or added, or is not sealed yet.`);
    }
    if (this.faults.length > 0) return { checked: [], faults: shortened(this.faults) };
    return { checked: this.sentences(old), faults: [] };
  }

  private sentences(old: number): string[] {
    const [first, last] = [this.rows[0], this.rows.at(-1)];
    if (!first || !last) return ['The export has no entries.'];
    return [
      `The export has every entry of the audit log from ${first.seq} to ${last.seq}.`,
      ...(old > 0
        ? [
            `${rangeText(first.seq, this.rows[old - 1]!.seq)} from before the log had the audit, and without a leaf: nothing shows whether they were changed.`,
          ]
        : []),
      `${this.rows.length - old} entries are in the log, unchanged.`,
    ];
  }

  private fault(text: string): void {
    this.faults.push(text);
  }

  private readHead(value: Record<string, unknown> | null): void {
    const { type, origin, hmac_key: key } = value ?? {};
    if (type !== auditExportType || typeof key !== 'string' || !/^([0-9a-f]{2})+$/.test(key))
      return void this.faults.push(`The first line is not that of an export: its type must be ${auditExportType}.`);
    this.key = Buffer.from(key, 'hex');
    if (typeof origin === 'string') this.origin = origin;
    else this.fault('The export names no log: none had begun when it was made.');
  }

  private checkNumbers(): void {
    for (const [at, { seq }] of this.rows.entries()) {
      const before = this.rows[at - 1]?.seq;
      if (before === undefined || seq === before + 1) continue;
      if (seq > before) this.fault(`${rangeText(before + 1, seq - 1)} missing.`);
      else if (seq === before) this.fault(`Entry ${seq} stands there twice.`);
      else this.fault(`Entry ${seq} stands behind entry ${before}.`);
    }
  }

  /**
   * How many rows at the beginning are from before the log had the audit. The log itself says so, by the first entry in it; otherwise
   * whoever changes an entry could call it an old one.
   */
  private oldRows(): number {
    const first = this.rows.findIndex((_, at) => this.found.has(at));
    const row = this.rows[first];
    if (first <= 0 || row?.leaf.action !== beginAction) return 0;
    const { entries_before: before } = (row.details ?? {}) as { entries_before?: unknown };
    return before === row.seq - 1 && this.rows.slice(0, first).every(({ isOld }) => isOld) ? first : 0;
  }
}

/** What is wrong with a line by itself; null where nothing is. */
function rowFault(value: Record<string, unknown>, key: Buffer): string | null {
  const other = Object.keys(value).find((name) => !allowed.has(name));
  if (other !== undefined) return `has the member "${other.slice(0, 50)}", which no entry has: it was changed.`;
  if (value.type !== auditType) return `is not of the type ${auditType}: it was changed.`;
  const { subject, clear } = value;
  if (digestOf(value.details) !== value.details_sha256)
    return 'has other details than those that it was recorded with: it was changed.';
  if (clear === undefined)
    return typeof subject === 'string' && hmacForm.test(subject) ? 'lacks its subject in clear: it was changed.' : null;
  const shown = (clear as { subject?: unknown } | null)?.subject;
  const isSame =
    typeof shown === 'string' && Object.keys(clear as object).length === 1 && hmacHex(shown, key) === subject;
  return isSame ? null : 'has another subject than the one that it was recorded with: it was changed.';
}

function digestOf(details: unknown): string | null {
  try {
    return canonicalDigest(details);
  } catch {
    return null;
  }
}

function leafKey(leaf: AuditLeafJson): string | null {
  try {
    return auditLeafHash(leaf).toString('latin1');
  } catch {
    return null;
  }
}

function objectIn(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

function rangeText(first: number, last: number): string {
  return first === last ? `Entry ${first} is` : `Entries ${first} to ${last} are`;
}

function shortened(faults: readonly string[]): string[] {
  if (faults.length <= namedMax) return [...faults];
  return [...faults.slice(0, namedMax), `${faults.length - namedMax} other faults are not listed.`];
}
