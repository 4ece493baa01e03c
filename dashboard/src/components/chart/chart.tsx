/**
 * A chart over time in a card: its name, the figures under the pointer, and a summary for screen readers. With the focus on it,
 * arrow keys go from point to point and each is announced; Escape leaves the chart.
 */
import { type KeyboardEvent, useId, useState } from 'react';
import { stepLabel } from '../../format/time.js';
import { useResolvedTheme } from '../../layout/theme.js';
import { Card } from '../card.js';
import { classNames } from '../class-names.js';
import { loadedApart } from '../loaded-apart.js';
import { Skeleton } from '../states.js';
import type { ChartSeries } from './plot.js';

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
  /** Leaves more of the screen to what is below. */
  low?: boolean;
}

const Plot = loadedApart(async () => (await import('./plot.js')).Plot);

const dots = {
  'series-1': 'bg-series-1',
  'series-2': 'bg-series-2',
  'series-3': 'bg-series-3',
  'series-4': 'bg-series-4',
};

const heightPx = 168;
const lowPx = 148;

export function Chart({ title, description, summary, at, stepSeconds, series, axisLabel, emptyText, low }: ChartProps) {
  const height = low ? lowPx : heightPx;
  const [index, setIndex] = useState<number | null>(null);
  /** The point that was reached by keyboard. The pointer's is not announced: it passes over many. */
  const [keyed, setKeyed] = useState<number | null>(null);
  const keysId = useId();
  const theme = useResolvedTheme();
  const moment = index === null ? undefined : at[index];
  const choose = (next: number | null) => {
    setKeyed(next);
    setIndex(next);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (event.key === 'Escape') {
      choose(null);
      event.currentTarget.blur();
      return;
    }
    const next = nextPoint(event.key, index, at.length);
    if (next === null) return;
    event.preventDefault();
    choose(next);
  };
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
      {emptyText !== null ? (
        <div aria-label={summary} className="mt-2" role="img" style={{ height }}>
          <p className="flex h-full items-center justify-center rounded-md bg-sunken/60 text-sm text-ink-3">
            {emptyText}
          </p>
        </div>
      ) : (
        // An application gets the arrow keys, which screen readers otherwise keep for reading.
        <div
          aria-describedby={keysId}
          aria-label={summary}
          aria-roledescription="chart"
          className="relative mt-2 rounded-md"
          onBlur={() => choose(null)}
          onKeyDown={onKeyDown}
          role="application"
          style={{ height }}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: its points are reached by keyboard.
          tabIndex={0}
        >
          <Plot
            {...{ at, stepSeconds, series, axisLabel, theme, keyed, height }}
            onHover={setIndex}
            placeholder={<Skeleton className="h-full" />}
          />
        </div>
      )}
      <p className="sr-only" id={keysId}>
        Arrow keys go from point to point. Escape leaves the chart.
      </p>
      <p aria-live="polite" className="sr-only">
        {keyed !== null && pointText(keyed, { at, stepSeconds, series })}
      </p>
    </Card>
  );
}

/** The point that a key leads to; null where the key is none of the chart's. */
function nextPoint(key: string, from: number | null, length: number): number | null {
  const last = length - 1;
  if (key === 'Home') return 0;
  if (key === 'End') return last;
  if (key === 'ArrowRight') return from === null ? 0 : Math.min(from + 1, last);
  if (key === 'ArrowLeft') return from === null ? last : Math.max(from - 1, 0);
  return null;
}

function pointText(
  index: number,
  { at, stepSeconds, series }: Pick<ChartProps, 'at' | 'stepSeconds' | 'series'>,
): string {
  const moment = at[index];
  if (moment === undefined) return '';
  return `${stepLabel(moment, stepSeconds)}: ${series.map(({ label, texts }) => `${label} ${texts[index]}`).join(', ')}`;
}
