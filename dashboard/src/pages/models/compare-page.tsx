/** Up to four models side by side. The address names them, so that a comparison can be shared. */
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { catalogueQuery } from '../../api/queries.js';
import type { Catalogue, CatalogueModel } from '../../api/types.js';
import { buttonClass, IconButton } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { Select } from '../../components/field.js';
import { BackIcon, CloseIcon } from '../../components/icons.js';
import { ModelId } from '../../components/model-id.js';
import { PageData } from '../../components/page-data.js';
import { PageHeader } from '../../components/page-header.js';
import { EmptyState, SkeletonRows } from '../../components/states.js';
import { count, unknown } from '../../format/figures.js';
import { placeName } from '../../format/place.js';
import { contextText, KindBadge, lowestCarbon, PriceText, PromiseBadges, StateBadge } from './model-facts.js';
import { comparedMax } from './models-table.js';

export function Page() {
  const catalogue = useQuery(catalogueQuery);
  return (
    <>
      <PageHeader
        back={
          <Link className="text-ink-3 hover:text-ink" to="/models">
            <BackIcon className="mr-1 inline size-3.5" />
            All models
          </Link>
        }
        title="Compare models"
      />
      <PageData
        query={catalogue}
        skeleton={
          <Card flush>
            <SkeletonRows rows={8} />
          </Card>
        }
      >
        {(data) => <Comparison catalogue={data} />}
      </PageData>
    </>
  );
}

interface Row {
  name: string;
  cell: (model: CatalogueModel) => ReactNode;
}

function rowsOf(catalogue: Catalogue): Row[] {
  const places = new Map(catalogue.regions.map(({ locode, city }) => [locode, city]));
  const distinct = (values: (string | null | undefined)[]) =>
    [...new Set(values.filter(Boolean))].join(', ') || unknown;
  return [
    { name: 'Kind', cell: (model) => <KindBadge model={model} /> },
    { name: 'Input /M', cell: (model) => <PriceText model={model} part="input" /> },
    { name: 'Output /M', cell: (model) => <PriceText model={model} part="output" /> },
    { name: 'Context', cell: contextText },
    {
      name: 'Longest output',
      cell: ({ max_output_tokens: tokens }) => (tokens === null ? unknown : count(tokens)),
    },
    { name: 'Routes', cell: ({ routes }) => count(routes.length) },
    { name: 'Providers', cell: ({ routes }) => distinct(routes.map(({ provider }) => provider)) },
    {
      name: 'Regions',
      cell: ({ routes }) => distinct(routes.map(({ locode }) => placeName(places.get(locode), locode))),
    },
    { name: 'Countries', cell: ({ routes }) => distinct(routes.map(({ country }) => country)) },
    { name: 'Lowest grid intensity, gCO₂e/kWh', cell: lowestCarbon },
    { name: 'Data policy', cell: (model) => <PromiseBadges catalogue={catalogue} model={model} /> },
    {
      name: 'Capabilities',
      cell: ({ routes }) => distinct(routes.flatMap(({ capabilities }) => capabilities)).replaceAll('_', ' '),
    },
    {
      name: '',
      cell: (model) =>
        model.servable ? (
          <Link
            className={buttonClass('secondary', 'small')}
            search={{ model: model.auto_id } as never}
            to="/playground"
          >
            Try it
          </Link>
        ) : (
          <StateBadge model={model} />
        ),
    },
  ];
}

function Comparison({ catalogue }: { catalogue: Catalogue }) {
  const { ids } = useSearch({ strict: false }) as { ids?: unknown };
  const navigate = useNavigate();
  const wanted = String(ids ?? '')
    .split(',')
    .filter(Boolean);
  const models = wanted.flatMap((id) => catalogue.data.filter((model) => model.id === id)).slice(0, comparedMax);
  const set = (next: string[]) =>
    void navigate({ to: '/models/compare', search: { ids: next.join(',') } as never, replace: true });
  const others = catalogue.data.filter(({ id }) => !models.some((model) => model.id === id));
  return (
    <div className="flex flex-col gap-4">
      {models.length < comparedMax && (
        <Select
          className="max-w-sm"
          label="Add a model"
          onChange={(event) => set([...models.map(({ id }) => id), event.target.value])}
          options={[
            { value: '', label: 'Choose …' },
            ...others.map(({ id, name }) => ({ value: id, label: `${name} (${id})` })),
          ]}
          value=""
        />
      )}
      <Card flush>
        {models.length === 0 ? (
          <EmptyState title="No model chosen">{`Choose up to ${comparedMax} models to compare them.`}</EmptyState>
        ) : (
          <Grid
            models={models}
            onRemove={(gone) => set(models.map(({ id }) => id).filter((id) => id !== gone))}
            rows={rowsOf(catalogue)}
          />
        )}
      </Card>
    </div>
  );
}

interface GridProps {
  models: readonly CatalogueModel[];
  rows: readonly Row[];
  onRemove: (id: string) => void;
}

/** Four models fit beside the navigation of a small laptop. Where they do not, the edge shows that there is more. */
const namesRem = 7;
const modelRem = 9;

function Grid({ models, rows, onRemove }: GridProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls.
    <div
      aria-label="Models side by side"
      // Relative, so that texts for screen readers scroll along and do not widen the page.
      className="scroll-hint relative overflow-x-auto"
      role="group"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
      tabIndex={0}
    >
      <table
        className="w-full table-fixed border-collapse"
        style={{ minWidth: `${namesRem + modelRem * models.length}rem` }}
      >
        <thead>
          <tr className="border-b border-line align-top">
            <td className="w-28 px-3 py-3 xl:w-44 xl:px-5" />
            {models.map(({ id, name, creator, model }) => (
              <th className="px-2 py-3 text-left font-normal xl:px-3" key={id} scope="col">
                <span className="flex items-start justify-between gap-1">
                  <Link
                    className="font-medium underline decoration-field/60 underline-offset-4 hover:decoration-ink"
                    params={{ creator, model }}
                    to="/models/$creator/$model"
                  >
                    {name}
                  </Link>
                  <IconButton
                    className="-mt-1"
                    icon={CloseIcon}
                    label={`Remove ${name}`}
                    onClick={() => onRemove(id)}
                  />
                </span>
                <span className="text-ink-3">
                  <ModelId id={id} />
                </span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, cell }) => (
            <tr className="border-b border-line align-top last:border-0" key={name}>
              <th className="px-3 py-2 text-left text-sm font-normal text-ink-3 xl:px-5" scope="row">
                {name || <span className="sr-only">Playground</span>}
              </th>
              {models.map((model) => (
                <td className="tabular px-2 py-2 wrap-anywhere xl:px-3" key={model.id}>
                  {cell(model)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
