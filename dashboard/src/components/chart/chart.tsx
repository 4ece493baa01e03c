/** A chart over time in a card: its name, the figures under the pointer (or the whole period's), and a summary for screen readers. */
import { lazy, Suspense, useState } from 'react';
import { stepLabel } from '../../format/time.js';
import { useResolvedTheme } from '../../layout/theme.js';
import { Card } from '../card.js';
import { classNames } from '../class-names.js';
import { Skeleton } from '../states.js';

export interface ChartSeries {
  label: string;
  kind: 'bars' | 'line';
  colour: 'series-1' | 'series-2' | 'series-3' | 'series-4';
  /** Values for the plot; users read the texts. */
  values: readonly (number | null)[];
  texts: readonly string[];
}

export interface ChartProps {
  title: string;
  description?: string;
  /** Screen readers announce this instead of the drawing. */
  summary: string;
  at: readonly number[];
  stepSeconds: number;
  series: readonly ChartSeries[];
  axisLabel: (value: number) => string;
  /** Shown if there is nothing to draw. */
  emptyText: string | null;
}

const Plot = lazy(async () => ({ default: (await import('./plot.js')).Plot }));

const dots = {
  'series-1': 'bg-series-1',
  'series-2': 'bg-series-2',
  'series-3': 'bg-series-3',
  'series-4': 'bg-series-4',
};

export function Chart({ title, description, summary, at, stepSeconds, series, axisLabel, emptyText }: ChartProps) {
  const [index, setIndex] = useState<number | null>(null);
  const theme = useResolvedTheme();
  const moment = index === null ? undefined : at[index];
  return (
    <Card description={description} title={title}>
      <p aria-hidden="true" className="tabular flex min-h-5 flex-wrap gap-x-4 text-xs text-ink-2">
        {series.map(({ label, colour, texts }) => (
          <span className="inline-flex items-center gap-1.5" key={label}>
            <span className={classNames('size-2 rounded-full', dots[colour])} />
            {label}
            {index !== null && <span className="font-medium text-ink">{texts[index]}</span>}
          </span>
        ))}
        {moment !== undefined && <span className="ml-auto text-ink-3">{stepLabel(moment, stepSeconds)}</span>}
      </p>
      <div aria-label={summary} className="relative mt-2 h-[168px]" role="img">
        {emptyText !== null ? (
          <p className="flex h-full items-center justify-center rounded-md bg-sunken/60 text-sm text-ink-3">
            {emptyText}
          </p>
        ) : (
          <Suspense fallback={<Skeleton className="h-full" />}>
            <Plot {...{ at, stepSeconds, series, axisLabel, theme }} onHover={setIndex} />
          </Suspense>
        )}
      </div>
    </Card>
  );
}
