/**
 * The body of `GET /metrics`: the counters of the request path and the current state of the parts, in Prometheus' text format. Where
 * several workers serve, one scrape covers all of them.
 */
import type { KeyView } from '../../base/provider-key.js';
import { type Figures, mergeFigures, metricNames, type Sample } from '../../observability/metrics/figures.js';
import { type MetricDefinition, metricTable } from '../../observability/metrics/metric-table.js';
import { sealerFaults } from '../../sealing/sealer-fault.js';
import type { HttpDeps } from '../deps.js';
import { answersInTime } from './answers-in-time.js';

type MetricsDeps = Pick<
  HttpDeps,
  | 'catalogue'
  | 'clock'
  | 'credentials'
  | 'deployment'
  | 'health'
  | 'holds'
  | 'journal'
  | 'meters'
  | 'processMeters'
  | 'proof'
  | 'providerKeys'
  | 'spend'
  | 'siblings'
  | 'store'
  | 'upstreamConnections'
>;

const breakerNumbers = { closed: 0, half_open: 1, open: 2 } as const;

/** The figures of all workers of this machine. */
export async function metricsText(deps: MetricsDeps): Promise<string> {
  const isUp = await answersInTime(deps.store.ping());
  const own = { ...ownFigures(deps), lodestone_postgres_up: one(isUp ? 1 : 0) };
  const others = (await deps.siblings?.(own)) ?? [];
  return figuresText(others.length === 0 ? own : mergeFigures([own, ...others]));
}

/** The figures of this process as plain data, which another process can merge. */
export function ownFigures(deps: MetricsDeps): Figures {
  return {
    ...deps.meters.figures(),
    ...routeFigures(deps),
    ...keyFigures(deps),
    ...partFigures(deps),
    ...deps.processMeters?.figures(),
  };
}

/** A figure that a route does not have yet is left out, not written as zero. */
function routeFigures({ catalogue, health, holds, providerKeys }: MetricsDeps): Figures {
  const breakers: Sample[] = [];
  const held: Sample[] = [];
  const available: Sample[] = [];
  const firstBytes: Sample[] = [];
  const errorRatios: Sample[] = [];
  for (const { id, model, price, provider } of catalogue.current?.routes.values() ?? []) {
    const labels = [id, model.canonicalId];
    const { breaker, latency_ms, error_rate } = health.view(id);
    const isHeld = holds.isHeld(id);
    breakers.push({ labels, value: breakerNumbers[breaker] });
    held.push({ labels, value: isHeld ? 1 : 0 });
    const isWithoutKey = provider.keys && providerKeys?.viewsOf(provider).every(({ state }) => state !== 'ready');
    const isOut = isHeld || breaker === 'open' || isWithoutKey;
    if (price && provider.configured) available.push({ labels, value: isOut ? 0 : 1 });
    if (latency_ms !== null) firstBytes.push({ labels: [id], value: latency_ms / 1000 });
    if (error_rate !== null) errorRatios.push({ labels: [id], value: error_rate });
  }
  return {
    lodestone_route_breaker_state: breakers,
    lodestone_route_held: held,
    lodestone_route_available: available,
    lodestone_route_recent_first_byte_seconds: firstBytes,
    lodestone_route_recent_error_ratio: errorRatios,
  };
}

/** Of providers with several keys. */
function keyFigures({ providerKeys }: MetricsDeps): Figures {
  const views = providerKeys?.views() ?? [];
  const of = (figure: (view: KeyView) => number): Sample[] =>
    views.map((view) => ({ labels: [view.provider, view.name], value: figure(view) }));
  return {
    lodestone_provider_key_calls_total: of(({ calls }) => calls),
    lodestone_provider_key_running: of(({ running }) => running),
    lodestone_provider_key_held: of(({ state }) => (state === 'held' ? 1 : 0)),
    lodestone_provider_key_refused: of(({ state }) => (state === 'refused' ? 1 : 0)),
  };
}

function partFigures(deps: MetricsDeps): Figures {
  const { catalogue, clock, deployment, journal, upstreamConnections, spend } = deps;
  const waiting = journal.figures?.();
  const connections = upstreamConnections?.();
  return {
    ...(waiting && {
      lodestone_journal_records: one(waiting.depth),
      lodestone_journal_oldest_seconds: one(ageSeconds(clock.now(), waiting.oldestAt)),
      lodestone_journal_settled_total: one(waiting.settled),
      lodestone_journal_set_aside_total: one(waiting.setAside),
      lodestone_journal_damaged_total: one(waiting.damaged),
      lodestone_estimated_bills_total: one(waiting.estimated),
      lodestone_settler_up: one(journal.settlerAway ? 0 : 1),
    }),
    ...(spend && { lodestone_holds_exceeded_total: one(spend.exceeded) }),
    lodestone_secrets_key_fault: one(deps.credentials.hasKeyFault ? 1 : 0),
    ...logFigures(deps),
    ...deployment.figures(),
    ...(connections && {
      lodestone_upstream_connections: [
        { labels: ['busy'], value: connections.open - connections.idle },
        { labels: ['idle'], value: connections.idle },
      ],
    }),
    ...(catalogue.current && {
      lodestone_catalogue_loaded_timestamp_seconds: one(catalogue.current.loadedAt / 1000),
    }),
  };
}

function logFigures({ proof, clock }: MetricsDeps): Figures {
  const log = proof.sealer?.figures();
  if (!log) return {};
  return {
    lodestone_log_size: one(log.size),
    lodestone_log_unsealed_oldest_seconds: one(ageSeconds(clock.now(), log.oldestUnsealedMs)),
    lodestone_log_sealer_fault: sealerFaults.map((reason) => ({
      labels: [reason],
      value: log.fault === reason ? 1 : 0,
    })),
  };
}

function ageSeconds(nowMs: number, thenMs: number | null): number {
  return thenMs === null ? 0 : Math.max(0, nowMs - thenMs) / 1000;
}

function one(value: number): Sample[] {
  return [{ labels: [], value }];
}

export const prometheusContentType = 'text/plain; version=0.0.4; charset=utf-8';

interface MetricFamily extends Pick<MetricDefinition, 'type' | 'help' | 'labels' | 'bounds'> {
  readonly name: string;
  readonly samples: readonly Sample[];
}

function figuresText(figures: Figures): string {
  return prometheusText(metricNames.map((name) => ({ name, ...metricTable[name], samples: figures[name] ?? [] })));
}

export function prometheusText(families: readonly MetricFamily[]): string {
  return families.map(familyText).join('');
}

/** A family without samples is left out. */
function familyText(family: MetricFamily): string {
  const { name, help, type, samples } = family;
  if (samples.length === 0) return '';
  const lines = samples.map((sample) => sampleText(family, sample));
  return `# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function sampleText({ name, labels: names, bounds }: MetricFamily, { labels, value, counts }: Sample): string {
  const pairs = labels.map((label, i) => pairText(names[i] ?? '', label));
  if (!counts || !bounds) return `${name}${labelsText(pairs)} ${valueText(value)}\n`;
  let text = '';
  let count = 0;
  for (const [i, inBucket] of counts.entries()) {
    count += inBucket;
    const le = pairText('le', valueText(bounds[i] ?? Number.POSITIVE_INFINITY));
    text += `${name}_bucket${labelsText([...pairs, le])} ${count}\n`;
  }
  return `${text}${name}_sum${labelsText(pairs)} ${valueText(value)}\n${name}_count${labelsText(pairs)} ${count}\n`;
}

function pairText(name: string, value: string): string {
  return `${name}="${escaped(value).replaceAll('"', '\\"')}"`;
}

function labelsText(pairs: readonly string[]): string {
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function valueText(value: number): string {
  return Number.isFinite(value) || Number.isNaN(value) ? String(value) : value > 0 ? '+Inf' : '-Inf';
}
