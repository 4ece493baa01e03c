/** What a number of requests costs on each route, cheapest first. */
import { useState } from 'react';
import type { CatalogueModel, CatalogueRoute } from '../../api/types.js';
import { Card } from '../../components/card.js';
import { Input } from '../../components/field.js';
import { ModelId } from '../../components/model-id.js';
import { type Column, Table } from '../../components/table.js';
import { usd } from '../../format/money.js';
import { costOf, type Load } from './cost.js';

const fields = [
  { name: 'inputTokens', label: 'Input tokens' },
  { name: 'cachedTokens', label: 'of these cached' },
  { name: 'outputTokens', label: 'Output tokens' },
  { name: 'requests', label: 'Requests' },
] as const;

type Texts = Record<keyof Load, string>;

/** More would leave the range in which a whole number is exact. */
const numberMax = 1_000_000_000;

const isCount = (text: string) => /^\d{1,10}$/.test(text.trim()) && Number(text) <= numberMax;

export function CostCalculator({ model }: { model: CatalogueModel }) {
  const [texts, setTexts] = useState<Texts>({
    ...{ inputTokens: '1000', cachedTokens: '0', outputTokens: '500', requests: '1000' },
  });
  const isValid = Object.values(texts).every(isCount);
  const load = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, Number(text)])) as unknown as Load;
  const rows = isValid ? costs(model.routes, load) : [];
  return (
    <Card
      description="At the prices of now, with those of long prompts. Tiers, hours and tools are left out."
      flush
      title="Cost calculator"
    >
      <div className="grid grid-cols-2 gap-3 px-5 pb-4 md:grid-cols-4">
        {fields.map(({ name, label }) => (
          <Input
            error={isCount(texts[name]) ? null : 'Enter a whole number.'}
            inputMode="numeric"
            key={name}
            label={label}
            onChange={(event) => setTexts({ ...texts, [name]: event.target.value })}
            value={texts[name]}
          />
        ))}
      </div>
      <Table caption="Cost by route" columns={columns} rowKey={({ route }) => route.id} rows={rows} />
    </Card>
  );
}

interface Row {
  route: CatalogueRoute;
  each: string;
  all: string;
}

function costs(routes: readonly CatalogueRoute[], load: Load): Row[] {
  const rows = routes.flatMap((route) => {
    const cost = costOf(route, load);
    return cost ? [{ route, ...cost }] : [];
  });
  return rows.sort((a, b) => Number(a.all) - Number(b.all));
}

const columns: Column<Row>[] = [
  { header: 'Route', lead: true, cell: ({ route }) => <ModelId id={route.id} /> },
  { header: 'One request', end: true, cell: ({ each }) => usd(each) },
  { header: 'All requests', end: true, cell: ({ all }) => <span className="font-medium">{usd(all)}</span> },
];
