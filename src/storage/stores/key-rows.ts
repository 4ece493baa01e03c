/** Reads and writes keys as the store keeps them. */
import { getTableColumns } from 'drizzle-orm';
import { type ApiKey, type KeyTerms, openTerms } from '../../domain/account.js';
import { keys } from './tables.js';

const { usagePico: _usage, lastUsedAt: _used, ...columns } = getTableColumns(keys);
/** Without the figures, which change with every request. */
export const keyColumns = columns;

type KeyRow = Omit<typeof keys.$inferSelect, 'usagePico' | 'lastUsedAt'>;

export function keyOf({ terms, brought, importedFrom, openingPico, workload, ...row }: KeyRow): ApiKey {
  const key = { ...row, terms: readTerms(terms), ...(workload && { workload }) };
  return brought ? { ...key, brought, importedFrom, openingPico } : key;
}

/** The terms of a key as the store keeps them: JSON with amounts as text, null for a key without restrictions. */
export function storedTerms(terms: KeyTerms): unknown {
  if (Object.entries(openTerms).every(([name, value]) => terms[name as keyof KeyTerms] === value)) return null;
  return { ...terms, limitPico: terms.limitPico === null ? null : terms.limitPico.toString() };
}

/** A key whose terms cannot be read is disabled: it must not do more than it was allowed. */
function readTerms(stored: unknown): KeyTerms {
  if (stored === null || stored === undefined) return openTerms;
  const { limitPico = null, ...rest } = stored as Record<string, unknown>;
  const isAmount = limitPico === null || (typeof limitPico === 'string' && /^\d+$/.test(limitPico));
  if (typeof stored !== 'object' || !isAmount) return { ...openTerms, disabled: true };
  return { ...openTerms, ...rest, limitPico: limitPico === null ? null : BigInt(limitPico as string) };
}
