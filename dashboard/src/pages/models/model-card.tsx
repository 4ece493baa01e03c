/** One model with its routes. */
import type { Catalogue, CatalogueModel, CatalogueRoute } from '../../api/types.js';
import { Badge, type Tone } from '../../components/badge.js';
import { Card } from '../../components/card.js';
import { CopyButton } from '../../components/copy-button.js';
import { ModelId } from '../../components/model-id.js';
import { type Column, Table } from '../../components/table.js';
import { carbon, shortCount, unknown } from '../../format/figures.js';
import { usd } from '../../format/money.js';
import { fromNow } from '../../format/time.js';
import { OtherPrices } from './other-prices.js';

export function ModelCard({ model, catalogue }: { model: CatalogueModel; catalogue: Catalogue }) {
  return (
    <Card
      action={
        <span className="flex min-w-0 items-center gap-1 text-ink-2">
          <ModelId id={model.auto_id} />
          <CopyButton label={`Copy ${model.auto_id}`} text={model.auto_id} />
        </span>
      }
      description={facts(model)}
      flush
      title={
        <span className="inline-flex flex-wrap items-center gap-2">
          {model.name}
          {model.state !== 'available' && (
            <Badge tone="danger">{model.state === 'disabled' ? 'disabled' : 'unavailable'}</Badge>
          )}
        </span>
      }
    >
      <Table
        caption={`Routes of ${model.name}`}
        columns={columns(catalogue)}
        rowKey={({ id }) => id}
        rows={model.routes}
      />
    </Card>
  );
}

function facts({ context_window: context, max_output_tokens: output, reason }: CatalogueModel): string {
  return [
    context !== null && `${shortCount(context)} tokens of context`,
    output !== null && `${shortCount(output)} of output`,
    reason,
  ]
    .filter(Boolean)
    .join(' · ');
}

function columns({ providers, regions }: Catalogue): Column<CatalogueRoute>[] {
  const provider = new Map(providers.map((one) => [one.id, one]));
  const region = new Map(regions.map((one) => [one.locode, one]));
  return [
    {
      header: 'Route',
      lead: true,
      cell: (route) => (
        <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className="flex items-center gap-1">
            <ModelId id={route.id} />
            <CopyButton label={`Copy ${route.id}`} text={route.id} />
          </span>
          {route.default && <Badge>default</Badge>}
          <WhyNot route={route} />
          {route.price && <OtherPrices others={route.price.others} route={route.id} />}
        </span>
      ),
    },
    {
      header: 'Region',
      className: 'lg:w-48',
      cell: (route) => {
        const place = region.get(route.locode);
        return place ? (
          <span className="whitespace-nowrap">
            {place.city} <span className="text-ink-3">{place.country}</span>
          </span>
        ) : (
          <span className="text-ink-3">No region</span>
        );
      },
    },
    {
      header: 'Jurisdiction',
      className: 'lg:w-36',
      cell: (route) => {
        const { headquarters, cloud_act: cloudAct } = provider.get(route.provider) ?? {};
        return (
          <span className="whitespace-nowrap text-ink-2">
            {headquarters ?? unknown}
            {cloudAct && (
              <span className="ml-1.5 text-xs text-ink-3" title="The provider is subject to the US CLOUD Act">
                CLOUD Act
              </span>
            )}
          </span>
        );
      },
    },
    { header: 'gCO₂e/kWh', end: true, className: 'lg:w-28', cell: (route) => carbon(route.carbon) },
    { header: 'Input /M', end: true, className: 'lg:w-28', cell: ({ price }) => (price ? usd(price.input) : unknown) },
    {
      header: 'Output /M',
      end: true,
      className: 'lg:w-28',
      cell: ({ price }) => (price ? usd(price.output) : unknown),
    },
  ];
}

const reasons: Record<NonNullable<CatalogueRoute['why_not']>, [string, Tone]> = {
  unconfigured: ['not configured', 'neutral'],
  unpriced: ['no price', 'neutral'],
  held: ['quota spent', 'warn'],
  disabled: ['disabled', 'danger'],
  soft_disabled: ['unavailable', 'danger'],
  territory: ['not in your territory', 'neutral'],
};

function WhyNot({ route: { why_not: reason, held_until: until } }: { route: CatalogueRoute }) {
  if (!reason) return null;
  const [text, tone] = reasons[reason];
  return <Badge tone={tone}>{until ? `${text}, back ${fromNow(until)}` : text}</Badge>;
}
