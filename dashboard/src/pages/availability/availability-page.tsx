/** The Model availability page, for operators: disables a model temporarily (503 with a reason) or fully (404), and reloads the catalogue. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { catalogueQuery, useChange } from '../../api/queries.js';
import type { CatalogueModel } from '../../api/types.js';
import { Badge, type Tone } from '../../components/badge.js';
import { Button } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { ModelIcon } from '../../components/icons.js';
import { ModelId } from '../../components/model-id.js';
import { PageData } from '../../components/page-data.js';
import { PageHeader } from '../../components/page-header.js';
import { EmptyState, messageOf, Notice } from '../../components/states.js';
import { type Column, Table } from '../../components/table.js';
import { useToast } from '../../components/toast.js';
import { plural, unknown } from '../../format/figures.js';
import { modelStateName } from '../../format/model-state.js';
import { dateTime } from '../../format/time.js';
import { AvailabilityDialog } from './availability-dialog.js';

export function Page() {
  const catalogue = useQuery(catalogueQuery);
  const [edited, setEdited] = useState<CatalogueModel | null>(null);
  const say = useToast();
  const reload = useChange(
    () =>
      api<{ models: number; routes: number; providers: number }>('operator/catalogue/reload', {
        method: 'POST',
        body: {},
      }),
    [['catalogue'], ['operator', 'routes']],
  );
  return (
    <>
      <PageHeader
        actions={
          <Button
            busy={reload.isPending}
            onClick={() =>
              reload.mutate(undefined, {
                onSuccess: ({ models, routes }) =>
                  say(`Reloaded: ${plural(models, 'model')}, ${plural(routes, 'route')}.`),
              })
            }
          >
            Reload catalogue
          </Button>
        }
        description={catalogue.data ? `The catalogue was loaded ${dateTime(catalogue.data.loaded_at)}.` : undefined}
        title="Model availability"
      />
      {reload.isError && (
        <div className="mb-4">
          <Notice>
            <p className="font-medium">The new catalogue has errors. The old one stays in use.</p>
            <pre className="mt-1 text-xs whitespace-pre-wrap">{messageOf(reload.error)}</pre>
          </Notice>
        </div>
      )}
      <Card flush>
        <PageData query={catalogue}>
          {({ data }) =>
            data.length === 0 ? (
              <EmptyState icon={ModelIcon} title="The catalogue is empty" />
            ) : (
              <Table caption="Models" columns={columns(setEdited)} rowKey={({ id }) => id} rows={data} />
            )
          }
        </PageData>
      </Card>
      <AvailabilityDialog key={edited?.id} model={edited} onClose={() => setEdited(null)} />
    </>
  );
}

const tones: Record<CatalogueModel['state'], Tone> = { available: 'good', soft_disabled: 'warn', disabled: 'danger' };

function columns(onEdit: (model: CatalogueModel) => void): Column<CatalogueModel>[] {
  return [
    { header: 'Model', lead: true, cell: ({ id }) => <ModelId id={id} /> },
    {
      header: 'State',
      cell: ({ state, servable }) =>
        state === 'available' && !servable ? (
          <Badge>not set up here</Badge>
        ) : (
          <Badge tone={tones[state]}>{modelStateName(state)}</Badge>
        ),
    },
    { header: 'Reason', cell: ({ reason }) => <span className="wrap-anywhere text-ink-2">{reason ?? unknown}</span> },
    {
      header: 'Routes available',
      end: true,
      cell: ({ routes }) => `${routes.filter(({ servable }) => servable).length} of ${routes.length}`,
    },
    {
      header: '',
      name: 'Actions',
      end: true,
      cell: (model) => (
        <Button
          onClick={() => onEdit(model)}
          size="small"
          title={`Change the availability of ${model.id}`}
          variant="ghost"
        >
          Change
        </Button>
      ),
    },
  ];
}
