/** What docs/guide/releases.md promises to keep, by name: written down for each release, so that a later version can be compared. */
import { createHash } from 'node:crypto';
import { sections, topLevel } from '../../../src/config/settings.js';
import { errorTable } from '../../../src/errors/error-table.js';
import { openApiDocument } from '../../../src/http/openapi/document.js';
import { metricTable } from '../../../src/observability/metrics/metric-table.js';
import { receiptVersion } from '../../../src/proof/receipt.js';
import { migrations } from '../../../src/storage/migrations/index.js';

/** Each part is a table from a name to what it means. A later version has every row, and may have more. */
export type Promised = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const methods = ['get', 'post', 'put', 'patch', 'delete'];

export function promised(): Promised {
  const settings = Object.entries({ '': topLevel, ...sections }).flatMap(([section, rows]) =>
    Object.entries(rows).map(([name, row]) => [
      section === '' ? name : `${section}.${name}`,
      // A default that is made from others is a text of the page.
      { default: row.docs.default ?? plain(row.default), env: row.env ?? null },
    ]),
  );
  const operations = Object.entries(openApiDocument.paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = (item as Record<string, { operationId?: string } | undefined>)[method];
      return operation ? [[`${method.toUpperCase()} ${path}`, operation.operationId ?? null]] : [];
    }),
  );
  return {
    operations: Object.fromEntries(operations),
    errors: Object.fromEntries(
      Object.entries(errorTable as Readonly<Record<string, { code?: string; status: number }>>).map(
        ([name, { code = null, status }]: [string, { code?: string | null; status: number }]) => [
          name,
          { code, status },
        ],
      ),
    ),
    settings: Object.fromEntries(settings),
    metrics: Object.fromEntries(Object.entries(metricTable).map(([name, { labels }]) => [name, [...(labels ?? [])]])),
    migrations: Object.fromEntries(
      migrations.map((each) => [
        each.name,
        createHash('sha256')
          .update(plain([each.before ?? [], each.sql]))
          .digest('hex'),
      ]),
    ),
    receipts: Object.fromEntries(Array.from({ length: receiptVersion }, (_, index) => [`v${index + 1}`, true])),
  };
}

function plain(value: unknown): string {
  return typeof value === 'string'
    ? value
    : JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? String(each) : each));
}
