/** How a model's routes did lately, and what changed in the catalogue. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { modelHistoryQuery, type RouteStatus, type StatusWindow } from '../../api/records.js';
import type { CatalogueModel } from '../../api/types.js';
import { Card } from '../../components/card.js';
import { PageData } from '../../components/page-data.js';
import { Segmented } from '../../components/segmented.js';
import { type Column, Table } from '../../components/table.js';
import { percent, roughMilliseconds, unknown } from '../../format/figures.js';
import { priceName } from '../../format/price-names.js';
import { date } from '../../format/time.js';

const windows = [
  { value: '24h', label: '24 h' },
  { value: '7d', label: '7 days' },
  { value: '90d', label: '90 days' },
];

export function ModelStatus({ model }: { model: CatalogueModel }) {
  const history = useQuery(modelHistoryQuery(model.id));
  const [span, setSpan] = useState('7d');
  return (
    <Card
      action={<Segmented label="Period" onChange={setSpan} options={windows} value={span} />}
      description="From real requests of all accounts. Too few requests give no figure."
      flush
      title="Availability"
    >
      <PageData query={history}>
        {({ routes }) => (
          <Table caption="Availability by route" columns={statusColumns(span)} rowKey={({ id }) => id} rows={routes} />
        )}
      </PageData>
    </Card>
  );
}

function statusColumns(span: string): Column<RouteStatus & { id: string }>[] {
  const figure = (read: (window: StatusWindow) => string) => (row: RouteStatus) => {
    const window = row.windows[span];
    return window ? read(window) : unknown;
  };
  return [
    { header: 'Route', lead: true, cell: ({ provider, locode }) => `${provider}, ${locode}` },
    { header: 'Availability', end: true, cell: figure(({ availability }) => percent(availability)) },
    { header: 'Errors', end: true, cell: figure(({ error_rate: rate }) => percent(rate)) },
    { header: 'First byte, median', end: true, cell: figure(({ first_byte_ms: ms }) => roughMilliseconds(ms?.p50)) },
    { header: '95 %', end: true, cell: figure(({ first_byte_ms: ms }) => roughMilliseconds(ms?.p95)) },
    {
      header: 'Tokens/s',
      end: true,
      cell: figure(({ tokens_per_second: speed }) => (speed?.p50 == null ? unknown : String(Math.round(speed.p50)))),
    },
    { header: 'Incidents', end: true, cell: ({ incidents }) => String(incidents.length) },
  ];
}

export function ModelChanges({ model }: { model: CatalogueModel }) {
  const { data } = useQuery(modelHistoryQuery(model.id));
  const changes = data?.changes ?? [];
  if (changes.length === 0) return null;
  return (
    <Card description="What the catalogue of this gateway said before, and says now." title="Changes">
      <ol className="flex flex-col gap-3">
        {changes.map((change) => (
          <li
            className="grid gap-x-4 sm:grid-cols-[7rem_minmax(0,1fr)]"
            key={`${change.at} ${change.id} ${change.field}`}
          >
            <span className="text-ink-3">{date(change.at)}</span>
            <span className="wrap-anywhere">
              <code className="text-sm">{change.id}</code>{' '}
              {`${whatOf(change)}: from ${valueText(change.from)} to ${valueText(change.to)}`}
              {change.source && <span className="block text-xs text-ink-3">{`Source: ${change.source}`}</span>}
            </span>
          </li>
        ))}
      </ol>
    </Card>
  );
}

/** In words: the price classes by their names. */
function whatOf({ kind, field }: { kind: string; field: string | null }): string {
  if (field === null) return kind;
  return kind === 'price' ? `price, ${priceName(field).toLowerCase()}` : field.replaceAll('_', ' ');
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
