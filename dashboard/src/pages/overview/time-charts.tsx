/** The four charts: spend, requests with errors, first-byte latency, carbon. */
import { useMemo } from 'react';
import type { Overview, Step } from '../../api/types.js';
import { Chart, type ChartProps } from '../../components/chart/chart.js';
import { carbon, count, milliseconds, plural, shortCount } from '../../format/figures.js';
import { plotValue, usd } from '../../format/money.js';
import { stepLabel } from '../../format/time.js';

const axisUsd = (value: number) => `$${Number(value.toPrecision(3))}`;
const axisCount = (value: number) => (Number.isInteger(value) ? shortCount(value) : '');

export function TimeCharts({ data }: { data: Overview }) {
  const charts = useMemo(() => chartsOf(data), [data]);
  return (
    <div className="grid gap-5 md:grid-cols-2">
      {charts.map((chart) => (
        <Chart key={chart.title} {...chart} />
      ))}
    </div>
  );
}

function chartsOf({ series: steps, step_seconds: stepSeconds, totals }: Overview): ChartProps[] {
  const at = steps.map((step) => Date.parse(step.at) / 1000);
  const common = { at, stepSeconds };
  const figures = <T,>(read: (step: Step) => T) => steps.map(read);
  const peak = (values: readonly (number | null)[], texts: readonly string[]) => {
    const top = values.reduce<number>((best, value, index) => ((value ?? 0) > (values[best] ?? 0) ? index : best), 0);
    const moment = at[top];
    return values[top] && moment !== undefined ? ` Highest: ${texts[top]}, ${stepLabel(moment, stepSeconds)}.` : '';
  };

  const spend = {
    values: figures(({ spend_usd: spent }) => plotValue(spent)),
    texts: figures((step) => usd(step.spend_usd)),
  };
  const requests = { values: figures((step) => step.requests), texts: figures((step) => count(step.requests)) };
  const errors = { values: figures((step) => step.errors), texts: figures((step) => count(step.errors)) };
  const p50 = {
    values: figures((step) => step.first_byte_p50_ms),
    texts: figures((step) => milliseconds(step.first_byte_p50_ms)),
  };
  const p95 = {
    values: figures((step) => step.first_byte_p95_ms),
    texts: figures((step) => milliseconds(step.first_byte_p95_ms)),
  };
  const grid = { values: figures((step) => step.carbon), texts: figures((step) => carbon(step.carbon)) };
  const none = (values: readonly (number | null)[]) => values.every((value) => !value);

  return [
    {
      ...common,
      title: 'Spend',
      summary: `Spend over time, ${usd(totals.spend_usd)} in total.${peak(spend.values, spend.texts)}`,
      series: [{ label: 'USD', kind: 'bars', colour: 'series-1', ...spend }],
      axisLabel: axisUsd,
      emptyText: none(spend.values) ? 'No spend in this period' : null,
    },
    {
      ...common,
      title: 'Requests and errors',
      summary: `${plural(totals.requests, 'request')} over time, ${plural(totals.errors, 'error')} among them.${peak(requests.values, requests.texts)}`,
      series: [
        { label: 'Requests', kind: 'bars', colour: 'series-2', ...requests },
        { label: 'Errors', kind: 'bars', colour: 'series-4', ...errors },
      ],
      axisLabel: axisCount,
      emptyText: none(requests.values) ? 'No requests in this period' : null,
    },
    {
      ...common,
      title: 'First-byte latency',
      summary: `Time to the first byte over time: median ${milliseconds(totals.first_byte_p50_ms)}, 95th percentile ${milliseconds(totals.first_byte_p95_ms)}.`,
      series: [
        { label: 'Median', kind: 'line', colour: 'series-1', ...p50 },
        { label: 'p95', kind: 'line', colour: 'series-3', ...p95 },
      ],
      axisLabel: milliseconds,
      emptyText: none(p50.values) ? 'No answers in this period' : null,
    },
    {
      ...common,
      title: 'Carbon',
      summary: `Carbon intensity of the grids that served your requests, over time: ${carbon(totals.carbon)} of CO₂ equivalent per kilowatt-hour on average.`,
      series: [{ label: 'gCO₂e/kWh', kind: 'line', colour: 'series-3', ...grid }],
      axisLabel: (value) => `${Math.round(value)} g`,
      emptyText: none(grid.values) ? 'No figures in this period' : null,
    },
  ];
}
