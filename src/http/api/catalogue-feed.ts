/** The changes of the catalogue as an Atom feed (RFC 4287). */
import type { FactValue } from '../../catalogue/facts.js';
import type { RecordedChange } from '../../storage/store.js';

interface FeedFilters {
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
}

export function atomFeed(base: string, changes: readonly RecordedChange[], filters: FeedFilters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) if (value !== undefined) query.set(name, String(value));
  const address = `${base}/catalogue/changes.atom${query.size > 0 ? `?${query}` : ''}`;
  // A feed without an entry has to name a time all the same.
  const updated = new Date(changes[0]?.atMs ?? 0).toISOString();
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${escapeXml(address)}</id>
<title>Catalogue changes</title>
<updated>${updated}</updated>
<author><name>Lodestone</name></author>
<link rel="self" type="application/atom+xml" href="${escapeXml(address)}"/>
<link rel="alternate" type="text/html" href="${escapeXml(`${base}/docs/catalogue-changes`)}"/>
${changes.map((change) => entryOf(base, change)).join('')}</feed>
`;
}

function entryOf(base: string, change: RecordedChange): string {
  const { atMs, position, kind, digest, source, asOf } = change;
  const at = new Date(atMs).toISOString();
  const from = source === null ? '' : ` Source: ${source}${asOf === null ? '' : ` (${asOf})`}.`;
  return `<entry>
<id>${escapeXml(`${base}/catalogue/changes.atom#${atMs}-${position}`)}</id>
<title>${escapeXml(titleOf(change))}</title>
<updated>${at}</updated>
<category term="${kind}"/>
<content type="text">${escapeXml(`${titleOf(change)}.${from} Catalogue: ${digest}.`)}</content>
</entry>
`;
}

function titleOf({ kind, id, field, from, to }: RecordedChange): string {
  if (field === 'id') {
    const what = kind === 'route' ? 'Route' : kind === 'model' ? 'Model' : 'Provider';
    return `${what} ${id} ${to === null ? 'was removed' : 'was added'}`;
  }
  return `${id}: ${kind === field ? kind : `${kind} ${field}`} changed from ${textOf(from)} to ${textOf(to)}`;
}

function textOf(value: FactValue | null): string {
  if (value === null) return 'nothing';
  return Array.isArray(value) ? value.join(', ') : String(value);
}

/** Characters that XML 1.0 cannot hold are left out. */
function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '')
    .replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
