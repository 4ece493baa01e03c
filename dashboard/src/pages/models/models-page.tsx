/** The Models page: every model with its routes, prices, regions, carbon and jurisdiction, with filters and ids to copy. */
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { catalogueQuery } from '../../api/queries.js';
import type { Catalogue } from '../../api/types.js';
import { Card } from '../../components/card.js';
import { Input, Select } from '../../components/field.js';
import { ModelIcon } from '../../components/icons.js';
import { PageData } from '../../components/page-data.js';
import { PageHeader } from '../../components/page-header.js';
import { EmptyState, SkeletonRows } from '../../components/states.js';
import { plural } from '../../format/figures.js';
import { filterModels, type ModelFilter, noFilter } from './filter-models.js';
import { ModelCard } from './model-card.js';

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
  const [filter, setFilter] = useState<ModelFilter>(noFilter);
  const models = useMemo(() => filterModels(catalogue, filter), [catalogue, filter]);
  const set = (change: Partial<ModelFilter>) => setFilter({ ...filter, ...change });
  const routes = models.reduce((sum, model) => sum + model.routes.length, 0);
  const countries = [...new Set(catalogue.regions.map(({ country }) => country))].sort();
  return (
    <div className="flex flex-col gap-4">
      <search className="grid grid-cols-2 items-end gap-3 lg:grid-cols-[minmax(0,1fr)_11rem_11rem_11rem]">
        <Input
          className="max-lg:col-span-2"
          label="Search"
          onChange={(event) => set({ text: event.target.value })}
          placeholder="llama, frankfurt, sandbox …"
          type="search"
          value={filter.text}
        />
        <Select
          label="Provider"
          onChange={(event) => set({ provider: event.target.value })}
          options={[
            { value: '', label: 'Any' },
            ...catalogue.providers.map(({ id, name }) => ({ value: id, label: name })),
          ]}
          value={filter.provider}
        />
        <Select
          label="Country"
          onChange={(event) => set({ country: event.target.value })}
          options={[{ value: '', label: 'Any' }, ...countries.map((value) => ({ value, label: countryName(value) }))]}
          value={filter.country}
        />
        <Select
          className="max-lg:col-span-2"
          label="Show"
          onChange={(event) => set({ servableOnly: event.target.value === 'servable' })}
          options={[
            { value: 'servable', label: 'Available now' },
            { value: 'all', label: 'All routes' },
          ]}
          value={filter.servableOnly ? 'servable' : 'all'}
        />
      </search>
      <p className="text-sm text-ink-3" role="status">
        {plural(models.length, 'model')}, {plural(routes, 'route')}
      </p>
      {models.length === 0 ? (
        <Card flush>
          <EmptyState icon={ModelIcon} title="No model matches">
            Loosen the filters. Routes without credentials on this gateway are listed under “All routes”.
          </EmptyState>
        </Card>
      ) : (
        models.map((model) => <ModelCard catalogue={catalogue} key={model.id} model={model} />)
      )}
    </div>
  );
}

const names = new Intl.DisplayNames(undefined, { type: 'region' });

function countryName(code: string): string {
  try {
    return names.of(code) ?? code;
  } catch {
    return code;
  }
}
