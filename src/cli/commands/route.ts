/** `lodestone route …` */
import type { ListOf } from '../admin-client.js';
import { type Command, type CommandContext, text } from '../command.js';
import { table } from '../text-table.js';

interface RouteRow {
  id: string;
  provider: string;
  configured: boolean;
  priced: boolean;
  model_state: string;
  breaker: string;
  hold: { until: string } | null;
  latency_ms: number | null;
  error_rate: number | null;
}

export const routeCommands: readonly Command[] = [
  {
    name: 'route list',
    parameters: '[--provider ID]',
    summary: 'List every route with its state.',
    options: { provider: text },
    positionalsMax: 0,
    run: listRoutes,
  },
];

async function listRoutes({ client, print, options }: CommandContext): Promise<void> {
  const list = await client().call<ListOf<RouteRow>>('GET', '/routes');
  const data = list.data.filter(({ provider }) => options.provider === undefined || provider === options.provider);
  const yes = (value: boolean) => (value ? 'yes' : 'no');
  const rows = data.map((row) => [
    row.id,
    yes(row.configured),
    yes(row.priced),
    row.model_state,
    row.breaker,
    row.hold?.until ?? null,
    row.latency_ms,
    row.error_rate,
  ]);
  print(
    { ...list, data },
    table(['route', 'configured', 'priced', 'model', 'breaker', 'held until', 'latency ms', 'error rate'], rows),
  );
}
