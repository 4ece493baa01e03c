/** The bill of a request, line by line: what was counted, at which price. */
import type { CostLine, Generation } from '../../api/usage-types.js';
import { Card } from '../../components/card.js';
import { type Column, Table } from '../../components/table.js';
import { count } from '../../format/figures.js';
import { perMillion, usd } from '../../format/money.js';
import { priceName } from '../../format/price-names.js';

function priceOf({ unit, price_usd: price }: CostLine): string {
  return unit === 'token' ? `${usd(perMillion(price))} / 1M` : `${usd(price)} each`;
}

const columns: readonly Column<CostLine>[] = [
  { header: 'Class', cell: ({ name }) => priceName(name), lead: true },
  { header: 'Count', cell: (line) => count(line.count), end: true },
  { header: 'Price', cell: priceOf, end: true },
  { header: 'Cost', cell: (line) => usd(line.cost_usd), end: true },
];

/** Nothing for a request that was not billed, and for one of a version that kept no bills. */
export function BillCard({ generation }: { generation: Generation }) {
  const { cost_lines: lines, cost_details: details } = generation;
  if (!lines || lines.length === 0) return null;
  return (
    <Card description={details?.tier ? `At the prices of the tier ${details.tier}.` : undefined} flush title="Bill">
      <Table
        caption="The lines of the bill"
        columns={columns}
        rowKey={({ name, price_usd: price }) => `${name} ${price}`}
        rows={lines}
      />
    </Card>
  );
}
