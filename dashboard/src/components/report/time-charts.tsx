/** The charts of a report over time: spend, requests with errors, tokens, errors, first byte, grid intensity. */
import { useMemo } from 'react';
import type { Report, ReportStep } from '../../api/report-types.js';
import { carbon, count, percent, plural, roughMilliseconds, share, shortCount } from '../../format/figures.js';
import { plotValue, rowUsd, totalUsd } from '../../format/money.js';
import { stepLabel } from '../../format/time.js';
import { Chart, type ChartProps } from '../chart/chart.js';
import { classNames } from '../class-names.js';

/** Cents have two digits: $0.15, $0.30, $1. */
const axisUsd = (value: number) => `$${String(Number(value.toPrecision(3))).replace(/\.\d$/, '$&0')}`;
const axisCount = (value: number) => (Number.isInteger(value) ? shortCount(value) : '');
const axisShare = (value: number) => `${Math.round(value * 1000) / 10} %`;

export type ChartName = 'spend' | 'requests' | 'tokens' | 'errors' | 'first_byte' | 'carbon';

const all: readonly ChartName[] = ['spend', 'requests', 'tokens', 'errors', 'first_byte', 'carbon'];

export interface TimeChartsProps {
  data: Report;
  only?: readonly ChartName[];
  low?: boolean;
}

export function TimeCharts({ data, only = all, low = false }: TimeChartsProps) {
  const charts = useMemo(() => chartsOf(data), [data]);
  // Full lines on a wide screen too: no chart is alone in the last.
  const wideColumns = only.length % 3 === 0 ? '2xl:grid-cols-3' : '2xl:grid-cols-4';
  return (
    <div className={only.length === 1 ? 'grid' : classNames('grid gap-5 md:grid-cols-2', wideColumns)}>
      {only.map((name) => (
        <Chart key={name} {...charts[name]} low={low} />
      ))}
    </div>
  );
}

function chartsOf({ series: steps, step_seconds: stepSeconds, totals }: Report): Record<ChartName, ChartProps> {
  const at = steps.map((step) => Date.parse(step.at) / 1000);
  const common = { at, stepSeconds };
  const line = (value: (step: ReportStep) => number | null, text: (step: ReportStep) => string) => ({
    values: steps.map(value),
    texts: steps.map(text),
  });
  const peak = ({ values, texts }: ReturnType<typeof line>) => {
    const top = values.reduce<number>((best, value, index) => ((value ?? 0) > (values[best] ?? 0) ? index : best), 0);
    const moment = at[top];
    return values[top] && moment !== undefined ? ` Highest: ${texts[top]}, ${stepLabel(moment, stepSeconds)}.` : '';
  };
  const none = ({ values }: ReturnType<typeof line>) => values.every((value) => !value);

  const spend = line(
    (step) => plotValue(step.spend_usd),
    (step) => rowUsd(step.spend_usd),
  );
  const requests = line(
    (step) => step.requests,
    (step) => count(step.requests),
  );
  const errors = line(
    (step) => step.errors,
    (step) => count(step.errors),
  );
  const prompt = line(
    (step) => step.prompt_tokens,
    (step) => count(step.prompt_tokens),
  );
  const completion = line(
    (step) => step.completion_tokens,
    (step) => count(step.completion_tokens),
  );
  const rate = line(
    (step) => (step.requests === 0 ? null : step.errors / step.requests),
    (step) => percent(step.requests === 0 ? null : step.errors / step.requests),
  );
  const p50 = line(
    (step) => step.first_byte_p50_ms,
    (step) => roughMilliseconds(step.first_byte_p50_ms),
  );
  const p95 = line(
    (step) => step.first_byte_p95_ms,
    (step) => roughMilliseconds(step.first_byte_p95_ms),
  );
  const grid = line(
    (step) => step.carbon ?? null,
    (step) => carbon(step.carbon),
  );

  return {
    spend: {
      ...common,
      title: 'Spend',
      summary: `Spend over time, ${totalUsd(totals.spend_usd)} in total.${peak(spend)}`,
      series: [{ label: 'USD', kind: 'bars', colour: 'series-1', ...spend }],
      axisLabel: axisUsd,
      emptyText: none(spend) ? 'No spend in this period' : null,
    },
    requests: {
      ...common,
      title: 'Requests and errors',
      summary: `${plural(totals.requests, 'request')} over time, ${plural(totals.errors, 'error')} among them.${peak(requests)}`,
      series: [
        { label: 'Requests', kind: 'bars', colour: 'series-2', ...requests },
        { label: 'Errors', kind: 'bars', colour: 'series-4', ...errors },
      ],
      axisLabel: axisCount,
      emptyText: none(requests) ? 'No requests in this period' : null,
    },
    tokens: {
      ...common,
      title: 'Tokens',
      summary: `${plural(totals.prompt_tokens, 'prompt token')} and ${plural(totals.completion_tokens, 'completion token')} over time.${peak(prompt)}`,
      series: [
        { label: 'Prompt', kind: 'bars', colour: 'series-1', ...prompt },
        { label: 'Completion', kind: 'bars', colour: 'series-3', ...completion },
      ],
      axisLabel: axisCount,
      emptyText: none(prompt) && none(completion) ? 'No tokens in this period' : null,
    },
    errors: {
      ...common,
      title: 'Error rate',
      summary: `Share of requests that failed, over time: ${share(totals.errors, totals.requests)} in the whole period.${peak(rate)}`,
      series: [{ label: 'Errors', kind: 'line', colour: 'series-4', ...rate }],
      axisLabel: axisShare,
      emptyText: none(rate) ? 'No errors in this period' : null,
    },
    first_byte: {
      ...common,
      title: 'First byte',
      summary: `Time from a request’s arrival to the first byte of its answer, over time: median ${roughMilliseconds(totals.first_byte_p50_ms)}, 95th percentile ${roughMilliseconds(totals.first_byte_p95_ms)}.`,
      series: [
        { label: 'Median', kind: 'line', colour: 'series-1', ...p50 },
        { label: 'p95', kind: 'line', colour: 'series-3', ...p95 },
      ],
      axisLabel: roughMilliseconds,
      emptyText: none(p50) ? 'No answers in this period' : null,
    },
    carbon: {
      ...common,
      title: 'Grid intensity',
      summary: `Carbon intensity of the grids that served your requests, over time: ${carbon(totals.carbon)} of CO₂ equivalent per kilowatt-hour on average, known for ${share(totals.carbon_requests, totals.requests)} of requests.`,
      series: [
        {
          label: `gCO₂e/kWh, known for ${share(totals.carbon_requests, totals.requests)} of requests`,
          kind: 'line',
          colour: 'series-3',
          ...grid,
        },
      ],
      axisLabel: (value) => `${Math.round(value)} g`,
      emptyText: none(grid) ? 'No published figures in this period' : null,
    },
  };
}
