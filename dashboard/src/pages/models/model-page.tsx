/** One model: its routes, what a request costs on each, how it did lately, what changed, and how to call it. */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { catalogueQuery } from '../../api/queries.js';
import type { Catalogue, CatalogueModel } from '../../api/types.js';
import { Badge } from '../../components/badge.js';
import { buttonClass } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { CodeBlock } from '../../components/code-block.js';
import { CopyButton } from '../../components/copy-button.js';
import { BackIcon } from '../../components/icons.js';
import { ModelId } from '../../components/model-id.js';
import { PageData } from '../../components/page-data.js';
import { PageHeader } from '../../components/page-header.js';
import { EmptyState, Notice, SkeletonRows } from '../../components/states.js';
import { Tabs } from '../../components/tabs.js';
import { count, plural } from '../../format/figures.js';
import { useSession } from '../../layout/session-context.js';
import { doorOfKind } from '../playground/doors/index.js';
import { snippetsOf } from '../playground/snippets.js';
import { CostCalculator } from './cost-calculator.js';
import { KindBadge, StateBadge } from './model-facts.js';
import { modelOfId } from './model-options.js';
import { ModelChanges, ModelStatus } from './model-record.js';
import { RouteTable } from './route-table.js';

export function Page() {
  const { creator = '', model = '' } = useParams({ strict: false }) as { creator?: string; model?: string };
  const catalogue = useQuery(catalogueQuery);
  const id = `${creator}/${model}`;
  const found = catalogue.data?.data.find((one) => one.id === id);
  return (
    <>
      <PageHeader
        actions={found && <Actions model={found} />}
        back={
          <Link className="text-ink-3 hover:text-ink" to="/models">
            <BackIcon className="mr-1 inline size-3.5" />
            All models
          </Link>
        }
        title={found?.name ?? id}
      />
      <PageData
        query={catalogue}
        skeleton={
          <Card flush>
            <SkeletonRows rows={8} />
          </Card>
        }
      >
        {(data) => (found ? <Details catalogue={data} model={found} /> : <NoModel id={id} />)}
      </PageData>
    </>
  );
}

function Actions({ model }: { model: CatalogueModel }) {
  return (
    <>
      <Link className={buttonClass('secondary')} search={{ ids: model.id } as never} to="/models/compare">
        Compare
      </Link>
      {model.servable && (
        <Link className={buttonClass('primary')} search={{ model: model.auto_id } as never} to="/playground">
          Try it
        </Link>
      )}
    </>
  );
}

function NoModel({ id }: { id: string }) {
  return (
    <Card>
      <EmptyState
        action={
          <Link className={buttonClass('primary')} to="/models">
            See all models
          </Link>
        }
        title="No such model"
      >
        This gateway has no model {id}. It may have been removed from the catalogue.
      </EmptyState>
    </Card>
  );
}

/** Why a model cannot be asked here, and what an operator does about it. */
function NotHere({ model: { routes } }: { model: CatalogueModel }) {
  const { operator, docs_url: docs } = useSession();
  if (routes.some(({ why_not: why }) => why !== 'unconfigured'))
    return <Notice tone="warn">None of this model’s routes can serve now. The table says why.</Notice>;
  return (
    <Notice tone="warn">
      {`None of this model’s ${plural(routes.length, 'route')} is set up on this gateway. `}
      <Link className="underline underline-offset-2" to="/credentials">
        Add your own key of one of its providers
      </Link>
      {', or '}
      {operator ? (
        <a className="underline underline-offset-2" href={`${docs}/providers`}>
          set one up for all accounts
        </a>
      ) : (
        'ask the operator to set one up'
      )}
      .
    </Notice>
  );
}

/** More are found by the search of the Models page. */
const namesMax = 10;

function Details({ model, catalogue }: { model: CatalogueModel; catalogue: Catalogue }) {
  const named = catalogue.names.filter(({ model_id: target }) => modelOfId(target) === model.id);
  const names = named.slice(0, namesMax).map(({ name }) => name);
  const capabilities = [...new Set(model.routes.flatMap((route) => route.capabilities))];
  return (
    <div className="flex flex-col gap-5">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 text-ink-2">
        <KindBadge model={model} />
        <StateBadge model={model} />
        <span className="flex items-center gap-1">
          <ModelId id={model.auto_id} />
          <CopyButton label={`Copy ${model.auto_id}`} text={model.auto_id} />
        </span>
        {names.length > 0 && <span>{`Also named ${names.join(', ')}`}</span>}
        {model.context_window !== null && <span>{`${count(model.context_window)} tokens of context`}</span>}
        {model.max_output_tokens !== null && <span>{`${count(model.max_output_tokens)} of output`}</span>}
        {model.dimensions !== null && <span>{`${count(model.dimensions)} dimensions`}</span>}
        {capabilities.map((name) => (
          <Badge key={name}>{name.replaceAll('_', ' ')}</Badge>
        ))}
      </div>
      {model.reason && <Notice tone="warn">{model.reason}</Notice>}
      {!model.servable && <NotHere model={model} />}
      <Card
        description="An auto id uses the best of these that your routing policy leaves. Copy an id to pin its route."
        flush
        title="Routes"
      >
        <RouteTable catalogue={catalogue} model={model} />
      </Card>
      <CostCalculator model={model} />
      <ModelStatus model={model} />
      <ModelChanges model={model} />
      <Snippets model={model} />
    </div>
  );
}

function Snippets({ model }: { model: CatalogueModel }) {
  const { base_url: baseUrl } = useSession();
  const door = doorOfKind(model.kind);
  const body = door.body({
    ...{ model: model.auto_id, system: '', stream: false, parameters: {}, tools: [], provider: {} },
    turns: [{ id: 0, role: 'user', content: 'Hello' }],
    documents: ['First document', 'Second document'],
  });
  return (
    <Card description="Set LODESTONE_KEY to your API key." title="Call it">
      <Tabs
        label="Language"
        tabs={snippetsOf(door, body, { baseUrl }).map(({ language, code }) => ({
          value: language,
          label: language,
          content: <CodeBlock code={code} label={language === 'curl' ? 'curl command' : `${language} code`} />,
        }))}
      />
    </Card>
  );
}
