/** Prometheus' text format, version 0.0.4: families of samples with their labels escaped. */

import { type Figures, metricNames, type Sample } from '../../observability/metrics/figures.js';
import { type MetricDefinition, metricTable } from '../../observability/metrics/metric-table.js';

export const prometheusContentType = 'text/plain; version=0.0.4; charset=utf-8';

export interface MetricFamily extends Pick<MetricDefinition, 'type' | 'help' | 'labels' | 'bounds'> {
  readonly name: string;
  readonly samples: readonly Sample[];
}

export function figuresText(figures: Figures): string {
  return prometheusText(metricNames.map((name) => ({ name, ...metricTable[name], samples: figures[name] ?? [] })));
}

export function prometheusText(families: readonly MetricFamily[]): string {
  return families.map(familyText).join('');
}

/** A family without samples is left out: its name alone says nothing. */
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
