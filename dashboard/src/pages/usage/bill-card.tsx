/** The bill of a request, line by line: what was counted, at which price. */
import type { CostLine, Generation } from '../../api/usage-types.js';
import { Card } from '../../components/card.js';
import { type Column, Table } from '../../components/table.js';
import { count } from '../../format/figures.js';
import { perMillion, usd } from '../../format/money.js';

const names: Record<string, string> = {
  input: 'Input',
  output: 'Output',
  cached_input: 'Cache read',
  cache_write: 'Cache write, 5 minutes',
  cache_write_1h: 'Cache write, 1 hour',
  reasoning: 'Reasoning',
  input_audio: 'Audio input',
  output_audio: 'Audio output',
  input_image: 'Image input',
  output_image: 'Image output',
  request: 'Request',
  unpriced_tools: 'Tool calls without a price',
};

const toolPrefix = 'tools.';

function nameOf(line: string): string {
  return line.startsWith(toolPrefix) ? `Tool: ${line.slice(toolPrefix.length)}` : (names[line] ?? line);
}

function priceOf({ unit, price_usd: price }: CostLine): string {
  return unit === 'token' ? `${usd(perMillion(price))} / 1M` : `${usd(price)} each`;
}

const columns: readonly Column<CostLine>[] = [
  { header: 'Class', cell: ({ name }) => nameOf(name), lead: true },
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
