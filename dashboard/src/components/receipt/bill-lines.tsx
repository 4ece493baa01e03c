/** The bill of a request, line by line: what was counted, times its price. Every decimal is shown. */
import type { CostLine, Generation } from '../../api/usage-types.js';
import { count } from '../../format/figures.js';
import { perMillion, sumUsd, usd } from '../../format/money.js';
import { priceName } from '../../format/price-names.js';
import { type Column, Table } from '../table.js';

function priceOf({ unit, price_usd: price }: CostLine): string {
  return unit === 'token' ? `${usd(perMillion(price))} / 1M` : `${usd(price)} each`;
}

const columns: readonly Column<CostLine>[] = [
  { header: 'Class', cell: ({ name }) => priceName(name), lead: true },
  { header: 'Count', cell: (line) => count(line.count), end: true },
  { header: 'Price', cell: (line) => <span className="whitespace-nowrap">{priceOf(line)}</span>, end: true },
  { header: 'Cost', cell: (line) => <span className="whitespace-nowrap">{usd(line.cost_usd)}</span>, end: true },
];

/** A request that was not billed has no lines, nor has one of a version that kept no bills. */
export function BillLines({ generation }: { generation: Generation }) {
  const { cost_lines: lines, cost_details: details, cost_usd: cost, status, is_byok: isOwn } = generation;
  const { notional_cost_details: notional } = generation;
  if (!lines || lines.length === 0) {
    return (
      <p className="text-ink-2">
        {status >= 400
          ? 'Nothing was billed, because nothing was delivered.'
          : `Total ${usd(cost)}; no lines were recorded.`}
      </p>
    );
  }
  const tier = (isOwn ? notional : details)?.tier;
  const sum = sumUsd(lines.map((line) => line.cost_usd));
  return (
    <div className="-mx-5">
      <Table
        caption="The lines of the bill"
        columns={columns}
        rowKey={({ name, price_usd: price }) => `${name} ${price}`}
        rows={lines}
      />
      <p className="tabular flex justify-between border-t border-line px-5 pt-2.5 font-semibold">
        <span>
          {isOwn ? 'List price' : 'Total'}
          {tier ? `, at the prices of the tier ${tier}` : ''}
        </span>
        <span>{usd(sum)}</span>
      </p>
      {isOwn && (
        <p className="tabular flex justify-between px-5 pt-2.5 font-semibold">
          <span>Fee, which is all that this request cost here</span>
          <span>{usd(cost)}</span>
        </p>
      )}
    </div>
  );
}
