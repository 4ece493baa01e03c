/** The same figures by model, by provider and by region. */
import type { Figures, Overview } from '../../api/types.js';
import { Card } from '../../components/card.js';
import { ModelId } from '../../components/model-id.js';
import { EmptyState } from '../../components/states.js';
import { type Column, Table } from '../../components/table.js';
import { carbon, count, milliseconds } from '../../format/figures.js';
import { usd } from '../../format/money.js';

type Named = Figures & { id: string };

function figureColumns<Row extends Named>(): Column<Row>[] {
  return [
    { header: 'Requests', end: true, cell: ({ requests }) => count(requests) },
    { header: 'Errors', end: true, wide: true, cell: ({ errors }) => count(errors) },
    { header: 'First byte', end: true, wide: true, cell: ({ first_byte_p50_ms: ms }) => milliseconds(ms) },
    { header: 'Carbon', end: true, wide: true, cell: (row) => carbon(row.carbon) },
    { header: 'Spend', end: true, cell: ({ spend_usd: spend }) => usd(spend) },
  ];
}

function Breakdown<Row extends Named>({
  title,
  lead,
  rows,
}: {
  title: string;
  lead: Column<Row>;
  rows: readonly Row[];
}) {
  return (
    <Card flush title={title}>
      {rows.length === 0 ? (
        <EmptyState title="Nothing was served in this period" />
      ) : (
        <Table caption={title} columns={[lead, ...figureColumns<Row>()]} rowKey={({ id }) => id} rows={rows} />
      )}
    </Card>
  );
}

export function Breakdowns({ data }: { data: Overview }) {
  return (
    <>
      <Breakdown
        lead={{ header: 'Model', lead: true, cell: ({ id, name }) => (id === '' ? name : <ModelId id={id} />) }}
        rows={data.by_model}
        title="By model"
      />
      <div className="grid items-start gap-5 xl:grid-cols-2">
        <Breakdown
          lead={{ header: 'Provider', lead: true, cell: ({ name }) => name }}
          rows={data.by_provider}
          title="By provider"
        />
        <Breakdown
          lead={{
            header: 'Region',
            lead: true,
            cell: ({ id, city, country }) => (
              <span title={id}>
                {id === '' ? 'Not served' : (city ?? 'No region')} <span className="text-ink-3">{country ?? id}</span>
              </span>
            ),
          }}
          rows={data.by_region}
          title="By region"
        />
      </div>
    </>
  );
}
