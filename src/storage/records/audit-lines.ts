/**
 * Exports the audit log as lines that can be checked against the transparency log: the first names the log and the key of the hidden
 * values, the others are entries by number. Each is made from the stored entry, so that one that was changed since does not match its leaf.
 */
import { Readable } from 'node:stream';
import { auditExportLine, auditExportType } from '../../proof/audit-leaf.js';
import type { Database } from '../database.js';
import { type FactRow, factColumns, factsOf } from '../stores/audit-store.js';

const rowsAtOnce = 1_000;

interface StateRow {
  origin: string | null;
  hmac_key: Buffer;
  logged_from: number;
}

/** `conditions` are about the columns of `a`. Without `withHead` the lines go on behind others. */
export function auditLines(database: Database, conditions: readonly string[], withHead: boolean): Readable {
  return Readable.from(pages(database, conditions, withHead), { objectMode: false });
}

async function* pages(
  database: Database,
  conditions: readonly string[],
  withHead: boolean,
): AsyncGenerator<string, void> {
  const [state] = await database.statement<StateRow>(
    'audit-export-state',
    'select l.origin, s.hmac_key, s.logged_from from lodestone.audit_state s, lodestone.log_state l',
    [],
  );
  const { origin, hmac_key: key, logged_from: loggedFrom } = state!;
  if (withHead) yield `${JSON.stringify({ type: auditExportType, origin, hmac_key: key.toString('hex') })}\n`;
  const where = [...conditions, 'a.seq > $1'].join(' and ');
  for (let last = 0; ; ) {
    const rows = await database.statement<FactRow & { id: string }>(
      'audit-export',
      `select a.id, ${factColumns} from lodestone.audit a where ${where} order by a.seq limit ${rowsAtOnce}`,
      [last],
    );
    if (rows.length === 0) return;
    yield rows.map(({ id, ...row }) => lineOf(id, row)).join('');
    last = rows.at(-1)!.seq;
  }

  function lineOf(id: string, row: FactRow): string {
    const facts = factsOf(row);
    return `${auditExportLine(id, facts, { key, isLogged: facts.seq >= loggedFrom })}\n`;
  }
}
