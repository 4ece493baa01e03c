/** The list of models: one line each, with what they are compared by, and a box to compare up to four. */
import { Link } from '@tanstack/react-router';
import type { Catalogue, CatalogueModel } from '../../api/types.js';
import { CopyButton } from '../../components/copy-button.js';
import { ModelId } from '../../components/model-id.js';
import { type Column, Table } from '../../components/table.js';
import { plural } from '../../format/figures.js';
import { contextText, KindBadge, lowestCarbon, PriceText, PromiseBadges, StateBadge } from './model-facts.js';
import { modelOfId } from './model-options.js';

export const comparedMax = 4;

export interface ModelsTableProps {
  models: readonly CatalogueModel[];
  catalogue: Catalogue;
  compared: readonly string[];
  onCompare: (ids: string[]) => void;
}

export function ModelsTable({ models, ...rest }: ModelsTableProps) {
  return <Table caption="Models" columns={columns(rest)} rowKey={({ id }) => id} rows={models} />;
}

/** Between a phone and a wide screen, prices need the space. */
const narrow = 'md:max-xl:hidden';

function columns({ catalogue, compared, onCompare }: Omit<ModelsTableProps, 'models'>): Column<CatalogueModel>[] {
  return [
    {
      header: '',
      name: 'Compare',
      className: 'md:w-10',
      corner: true,
      cell: ({ id, name }) => (
        <input
          aria-label={`Compare ${name}`}
          checked={compared.includes(id)}
          className="size-4 accent-(--accent) pointer-coarse:size-6"
          disabled={!compared.includes(id) && compared.length >= comparedMax}
          onChange={({ target }) =>
            onCompare(target.checked ? [...compared, id] : compared.filter((other) => other !== id))
          }
          type="checkbox"
        />
      ),
    },
    {
      header: 'Model',
      lead: true,
      className: 'xl:min-w-72',
      cell: (model) => (
        <span className="flex flex-col gap-0.5">
          <span className="flex flex-wrap items-center gap-2">
            <Link
              className="font-medium text-ink underline decoration-field/60 underline-offset-4 hover:decoration-ink"
              params={{ creator: model.creator, model: model.model }}
              to="/models/$creator/$model"
            >
              {model.name}
            </Link>
            <KindBadge model={model} />
            <StateBadge model={model} />
          </span>
          <Names catalogue={catalogue} model={model} />
          <span className="flex items-center text-ink-3">
            <ModelId id={model.auto_id} />
            <CopyButton className="-my-1" label={`Copy ${model.auto_id}`} text={model.auto_id} />
          </span>
        </span>
      ),
    },
    {
      header: 'Served by',
      className: narrow,
      cell: ({ routes }) => {
        const providers = [...new Set(routes.map(({ provider }) => provider))];
        return (
          <span className="flex flex-col max-md:items-end">
            <span className="whitespace-nowrap">{plural(routes.length, 'route')}</span>
            <span className="text-xs text-ink-3">
              {providers.slice(0, 3).join(', ')}
              {providers.length > 3 && ` and ${providers.length - 3} more`}
            </span>
          </span>
        );
      },
    },
    { header: 'Data policy', cell: (model) => <PromiseBadges catalogue={catalogue} model={model} /> },
    { header: 'Context', className: narrow, end: true, cell: contextText },
    { header: 'gCO₂e/kWh', end: true, cell: lowestCarbon },
    { header: 'Input /M', end: true, cell: (model) => <PriceText model={model} part="input" /> },
    { header: 'Output /M', end: true, cell: (model) => <PriceText model={model} part="output" /> },
  ];
}

const namesMax = 3;

/** What the operator calls the model: a request may send that instead of the id. */
function Names({ catalogue: { names }, model: { id } }: { catalogue: Catalogue; model: CatalogueModel }) {
  const own = names.filter(({ model_id: target }) => modelOfId(target) === id).map(({ name }) => name);
  if (own.length === 0) return null;
  const more = own.length - namesMax;
  return (
    <span className="text-sm wrap-anywhere text-ink-2">
      {`also ${own.slice(0, namesMax).join(', ')}`}
      {more > 0 && ` and ${more} more`}
    </span>
  );
}
