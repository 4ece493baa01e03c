/** Makes the leaves of the audit log again from its entries, and compares them with the transparency log. */
import type { PoolClient } from 'pg';
import { auditLeaf, auditLeafHash } from '../../proof/audit-leaf.js';
import { hashBytes } from '../../proof/merkle.js';
import { tileWidth } from '../../proof/tiles.js';
import type { StorageFault } from '../store.js';
import { type FactRow, factColumns, factsOf } from '../stores/audit-store.js';

const rowsAtOnce = 2_000;
/** An entry that is gone leaves a number without one. */
export const missingEntries = {
  what: 'entry of the audit log',
  sql: `select n::text as place, 'an entry with this number' as expected, null::text as found
    from lodestone.audit_state s, generate_series(1, s.last_seq) n where not exists (select 1 from lodestone.audit a where a.seq = n)`,
};

interface SealedRow extends FactRow {
  leaf: Buffer | null;
}

/** Inside of the transaction that the other checks are in. */
export async function auditFaults(client: PoolClient, most: number): Promise<StorageFault[]> {
  const { rows: states } = await client.query<{ hmac_key: Buffer }>('select hmac_key from lodestone.audit_state');
  const key = states[0]!.hmac_key;
  const faults: StorageFault[] = [];
  await client.query(`declare sealed_audit no scroll cursor for
    select ${factColumns}, substr(t.hashes, (a.leaf_index % ${tileWidth} * ${hashBytes} + 1)::integer, ${hashBytes}) as leaf
    from lodestone.audit a left join lodestone.log_tiles t on t.level = 0 and t.tile = a.leaf_index / ${tileWidth}
    where a.leaf_index is not null order by a.seq`);
  while (faults.length < most) {
    const { rows } = await client.query<SealedRow>(`fetch ${rowsAtOnce} from sealed_audit`);
    if (rows.length === 0) break;
    for (const { leaf, ...row } of rows) {
      const made = auditLeafHash(auditLeaf(factsOf(row), key));
      if (leaf?.equals(made)) continue;
      const expected = leaf?.toString('base64') ?? 'none';
      const what = 'entry of the audit log and its leaf';
      faults.push({ what, where: String(row.seq), expected, found: made.toString('base64') });
    }
  }
  await client.query('close sealed_audit');
  return faults.slice(0, most);
}
