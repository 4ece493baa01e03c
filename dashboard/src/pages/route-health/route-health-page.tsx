/** The Route health page, for operators: every route with its breaker, hold, latency and errors, updated every ten seconds; lifts holds. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { routesQuery, useChange } from '../../api/queries.js';
import type { RouteHealth } from '../../api/usage-types.js';
import { Badge, type Tone } from '../../components/badge.js';
import { Button } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { Input } from '../../components/field.js';
import { HealthIcon } from '../../components/icons.js';
import { ModelId } from '../../components/model-id.js';
import { PageData } from '../../components/page-data.js';
import { PageHeader } from '../../components/page-header.js';
import { Segmented } from '../../components/segmented.js';
import { EmptyState } from '../../components/states.js';
import { type Column, Table } from '../../components/table.js';
import { useToast } from '../../components/toast.js';
import { milliseconds, percent } from '../../format/figures.js';
import { modelStateName } from '../../format/model-state.js';
import { dateTime, fromNow } from '../../format/time.js';

const views = [
  { value: 'all', label: 'All' },
  { value: 'trouble', label: 'Problems' },
  { value: 'off', label: 'Not set up here' },
];

const inTrouble = ({ breaker, hold, model_state: state, configured }: RouteHealth) =>
  configured && (breaker !== 'closed' || hold !== null || state !== 'available');

const inView: Record<string, (route: RouteHealth) => boolean> = {
  all: () => true,
  trouble: inTrouble,
  off: ({ configured }) => !configured,
};

export function Page() {
  const routes = useQuery(routesQuery);
  const [view, setView] = useState('all');
  const [text, setText] = useState('');
  const say = useToast();
  const lift = useChange(
    ({ id }: RouteHealth) =>
      api(`operator/routes/${id.split('/').map(encodeURIComponent).join('/')}/hold`, { method: 'DELETE' }),
    [['operator', 'routes'], ['catalogue']],
  );
  const liftHold = (route: RouteHealth) =>
    lift.mutate(route, {
      onSuccess: () => say(`${route.id} is available again.`),
      onError: (error) => say(error.message, 'danger'),
    });
  const shown = (list: RouteHealth[]) =>
    list.filter((route) => inView[view]?.(route) && route.id.includes(text.trim().toLowerCase()));
  return (
    <>
      <PageHeader
        actions={<Segmented label="View" onChange={setView} options={views} value={view} />}
        description="As seen by this process. A breaker opens after repeated failures; after its cooldown one request probes the route."
        title="Route health"
      />
      <search className="mb-4 block max-w-sm">
        <Input
          label="Search"
          onChange={(event) => setText(event.target.value)}
          placeholder="provider/creator/model"
          type="search"
          value={text}
        />
      </search>
      <Card flush>
        <PageData query={routes}>
          {(list) =>
            shown(list).length === 0 ? (
              <EmptyState
                icon={HealthIcon}
                title={view === 'trouble' ? 'No route has a problem' : 'No route matches'}
              />
            ) : (
              <Table
                caption="Routes"
                columns={columns(liftHold, lift.isPending)}
                rowKey={({ id }) => id}
                rows={shown(list)}
              />
            )
          }
        </PageData>
      </Card>
    </>
  );
}

const breakers: Record<RouteHealth['breaker'], [string, Tone]> = {
  closed: ['closed', 'good'],
  half_open: ['half open', 'warn'],
  open: ['open', 'danger'],
};

function columns(onLift: (route: RouteHealth) => void, lifting: boolean): Column<RouteHealth>[] {
  return [
    { header: 'Route', lead: true, cell: ({ id }) => <ModelId id={id} /> },
    { header: 'Serving', cell: (route) => <Serving route={route} /> },
    {
      header: 'Breaker',
      cell: ({ breaker }) => {
        const [text, tone] = breakers[breaker] ?? [breaker, 'neutral'];
        return <Badge tone={tone}>{text}</Badge>;
      },
    },
    {
      header: 'Hold',
      cell: (route) =>
        route.hold ? (
          <span className="flex flex-wrap items-center gap-2">
            <span className="text-sm text-ink-2" title={dateTime(route.hold.until)}>
              ends {fromNow(route.hold.until)}
            </span>
            <Button busy={lifting} onClick={() => onLift(route)} size="small" title={`Lift the hold of ${route.id}`}>
              Lift hold
            </Button>
          </span>
        ) : (
          <span className="text-ink-3">none</span>
        ),
    },
    {
      header: 'Latency',
      end: true,
      cell: ({ latency_ms: ms }) => <span className="whitespace-nowrap">{milliseconds(ms)}</span>,
    },
    { header: 'Errors', end: true, cell: ({ error_rate: rate }) => percent(rate) },
  ];
}

function Serving({ route }: { route: RouteHealth }) {
  if (!route.configured) return <Badge>not set up here</Badge>;
  if (!route.priced) return <Badge>no price</Badge>;
  if (route.model_state !== 'available') return <Badge tone="danger">{modelStateName(route.model_state)}</Badge>;
  if (route.hold) return <Badge tone="warn">held</Badge>;
  // An open breaker keeps requests away from the route until a probe succeeds.
  if (route.breaker === 'open') return <Badge tone="danger">no, breaker open</Badge>;
  return route.breaker === 'half_open' ? <Badge tone="warn">probing</Badge> : <Badge tone="good">yes</Badge>;
}
