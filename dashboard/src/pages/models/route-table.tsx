/** The routes of a model: price classes, region, jurisdiction, grid intensity and data policy. */
import type { Catalogue, CatalogueModel, CatalogueRoute } from '../../api/types.js';
import { Badge, type Tone } from '../../components/badge.js';
import { CopyButton } from '../../components/copy-button.js';
import { DataPolicyBadges } from '../../components/data-policy.js';
import { ModelId } from '../../components/model-id.js';
import { type Column, Table } from '../../components/table.js';
import { carbon, unknown } from '../../format/figures.js';
import { usd } from '../../format/money.js';
import { placeName } from '../../format/place.js';
import { dateText, fromNow } from '../../format/time.js';
import { contextText } from './model-facts.js';
import { OtherPrices } from './other-prices.js';

export function RouteTable({ model, catalogue }: { model: CatalogueModel; catalogue: Catalogue }) {
  return (
    <Table
      caption={`Routes of ${model.name}`}
      columns={columns(catalogue)}
      rowKey={({ id }) => id}
      rows={model.routes}
    />
  );
}

function columns({ providers, regions }: Catalogue): Column<CatalogueRoute>[] {
  const provider = new Map(providers.map((one) => [one.id, one]));
  const region = new Map(regions.map((one) => [one.locode, one]));
  return [
    {
      header: 'Route',
      lead: true,
      cell: (route) => (
        <span className="flex flex-wrap items-center gap-x-2 gap-y-1 lg:min-w-40">
          <span className="flex items-center gap-1">
            <ModelId id={route.id} />
            <CopyButton label={`Copy ${route.id}`} text={route.id} />
          </span>
          {route.default && <Badge>default</Badge>}
          {route.quantization && <Badge>{route.quantization}</Badge>}
          <WhyNot route={route} />
          <LifeBadge route={route} />
          <PriceDate price={route.price} />
          {route.price && <OtherPrices others={route.price.others} route={route.id} />}
        </span>
      ),
    },
    {
      header: 'Region',
      cell: (route) => {
        const place = region.get(route.locode);
        const { headquarters, cloud_act: cloudAct } = provider.get(route.provider) ?? {};
        return (
          <span className="flex flex-col max-md:items-end lg:min-w-26">
            <span>{place ? `${place.city}, ${place.country}` : placeName(null, route.locode)}</span>
            <span className="text-xs text-ink-3">
              {`Provider in ${headquarters ?? 'an unknown country'}`}
              {cloudAct && ', CLOUD Act'}
            </span>
          </span>
        );
      },
    },
    {
      header: 'Data policy',
      cell: (route) => <DataPolicyBadges of={route.id} policy={route.data_policy} />,
    },
    { header: 'gCO₂e/kWh', end: true, cell: (route) => carbon(route.carbon) },
    {
      header: 'Context',
      // The head of the page has it too.
      className: 'md:max-xl:hidden',
      end: true,
      cell: ({ context_window: context }) => contextText({ context_window: context }),
    },
    { header: 'Input /M', end: true, cell: ({ price }) => (price ? usd(price.input) : unknown) },
    { header: 'Output /M', end: true, cell: ({ price }) => (price ? usd(price.output) : unknown) },
    {
      header: 'Cache read /M',
      className: 'md:max-xl:whitespace-normal!',
      end: true,
      cell: ({ price }) => (price?.cached_input ? usd(price.cached_input) : unknown),
    },
  ];
}

function LifeBadge({ route: { retires, deprecated } }: { route: CatalogueRoute }) {
  if (retires) {
    const successor = retires.replaced_by === null ? '' : `, replaced by ${retires.replaced_by}`;
    return <Badge tone="warn">{`retires on ${dateText(retires.date)}${successor}`}</Badge>;
  }
  return deprecated ? <Badge tone="warn">{`deprecated since ${dateText(deprecated)}`}</Badge> : null;
}

/** Only what a reader should know before relying on the figures: most are recent, and of no offer. */
function PriceDate({ price }: { price: CatalogueRoute['price'] }) {
  if (!price || (!price.old && !price.until_changed)) return null;
  const old = price.old && `price of ${dateText(price.as_of!)}, over 90 days old`;
  const offer = price.until_changed && 'offer without a known end';
  return <span className="text-xs text-ink-3">{[old, offer].filter(Boolean).join(' · ')}</span>;
}

const reasons: Record<NonNullable<CatalogueRoute['why_not']>, [string, Tone]> = {
  unconfigured: ['not set up here', 'neutral'],
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
