/** The Models page: every model with its prices, regions, grid intensity and promises; filters and order are in the address. */
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { catalogueQuery } from '../../api/queries.js';
import type { Catalogue } from '../../api/types.js';
import { Button, buttonClass } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { Input, type Option, Select } from '../../components/field.js';
import { ModelIcon } from '../../components/icons.js';
import { PageData } from '../../components/page-data.js';
import { PageHeader } from '../../components/page-header.js';
import { EmptyState, SkeletonRows } from '../../components/states.js';
import { plural } from '../../format/figures.js';
import { countryName } from './country-name.js';
import { filterModels, filterOf, type ModelFilter, promises, searchOf, sorts } from './filter-models.js';
import { comparedMax, ModelsTable } from './models-table.js';

export function Page() {
  const catalogue = useQuery(catalogueQuery);
  return (
    <>
      <PageHeader
        description="What this gateway can serve. Use an auto id to let Lodestone choose the route, or pin a route by its full id."
        title="Models"
      />
      <PageData
        query={catalogue}
        skeleton={
          <Card flush>
            <SkeletonRows rows={8} />
          </Card>
        }
      >
        {(data) => <Models catalogue={data} />}
      </PageData>
    </>
  );
}

function Models({ catalogue }: { catalogue: Catalogue }) {
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const navigate = useNavigate();
  const filter = useMemo(() => filterOf(search), [search]);
  const models = useMemo(() => filterModels(catalogue, filter), [catalogue, filter]);
  const [compared, setCompared] = useState<string[]>([]);
  const set = (change: Partial<ModelFilter>) =>
    void navigate({
      to: '/models',
      search: searchOf({ ...filter, ...change }) as never,
      ...{ replace: true, resetScroll: false },
    });
  const routes = models.reduce((sum, model) => sum + model.routes.length, 0);
  return (
    <div className="flex flex-col gap-4">
      <Filters catalogue={catalogue} filter={filter} set={set} />
      <div className="flex min-h-8 flex-wrap items-center justify-between gap-3">
        <p className="text-sm text-ink-3" role="status">
          {plural(models.length, 'model')}, {plural(routes, 'route')}
        </p>
        {compared.length === 0 && (
          <p className="text-sm text-ink-3">{`Tick up to ${comparedMax} models to compare them.`}</p>
        )}
      </div>
      <Card flush>
        {models.length === 0 ? (
          <EmptyState
            action={
              <Button onClick={() => void navigate({ to: '/models', search: { show: 'all' } as never })}>
                Show all routes
              </Button>
            }
            icon={ModelIcon}
            title="No model matches"
          >
            Loosen the filters. Routes without credentials on this gateway are listed under “All routes”.
          </EmptyState>
        ) : (
          <ModelsTable catalogue={catalogue} compared={compared} models={models} onCompare={setCompared} />
        )}
      </Card>
      {compared.length > 0 && <CompareBar compared={compared} onClear={() => setCompared([])} />}
    </div>
  );
}

/** Stays in sight while the list is scrolled. */
function CompareBar({ compared, onClear }: { compared: readonly string[]; onClear: () => void }) {
  return (
    <span className="sticky bottom-4 z-10 flex items-center justify-end gap-2 rounded-lg border border-line bg-surface px-4 py-3 shadow-pop">
      <Button onClick={onClear} size="small" variant="ghost">
        Clear
      </Button>
      <Link
        className={buttonClass('primary', 'small')}
        search={{ ids: compared.join(',') } as never}
        to="/models/compare"
      >
        {compared.length === 1 ? 'Compare 1 model' : `Compare ${compared.length} models`}
      </Link>
    </span>
  );
}

interface FiltersProps {
  catalogue: Catalogue;
  filter: ModelFilter;
  set: (change: Partial<ModelFilter>) => void;
}

const any: Option = { value: '', label: 'Any' };

function Filters({ catalogue, filter, set }: FiltersProps) {
  const countries = [...new Set(catalogue.regions.map(({ country }) => country))].sort();
  const kinds = [...new Set(catalogue.data.map(({ kind }) => kind))];
  const choice = (label: string, key: 'provider' | 'country' | 'kind' | 'promise', options: Option[]) => (
    <Select
      label={label}
      onChange={(event) => set({ [key]: event.target.value })}
      options={[any, ...options]}
      value={filter[key]}
    />
  );
  return (
    <search className="grid grid-cols-2 items-end gap-3 md:grid-cols-4">
      <Input
        className="col-span-2"
        label="Search"
        onChange={(event) => set({ text: event.target.value })}
        placeholder="llama, frankfurt, sandbox …"
        type="search"
        value={filter.text}
      />
      {choice(
        'Kind',
        'kind',
        kinds.map((value) => ({ value, label: value })),
      )}
      <Select
        label="Sort by"
        onChange={(event) => set({ sort: event.target.value })}
        options={sorts}
        value={filter.sort}
      />
      {choice(
        'Provider',
        'provider',
        catalogue.providers.map(({ id, name }) => ({ value: id, label: name })),
      )}
      {choice(
        'Country',
        'country',
        countries.map((value) => ({ value, label: countryName(value) })),
      )}
      {choice(
        'Promise',
        'promise',
        Object.entries(promises).map(([value, { label }]) => ({ value, label })),
      )}
      <Select
        label="Show"
        onChange={(event) => set({ servableOnly: event.target.value === 'servable' })}
        options={[
          { value: 'servable', label: 'Available now' },
          { value: 'all', label: 'All routes' },
        ]}
        value={filter.servableOnly ? 'servable' : 'all'}
      />
    </search>
  );
}
