/** uPlot in React: bars and lines over time, in the colours of the theme. A separate chunk, because the library is large. */
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { stepLabel } from '../../format/time.js';

export interface ChartSeries {
  label: string;
  kind: 'bars' | 'line';
  colour: 'series-1' | 'series-2' | 'series-3' | 'series-4';
  /** Values for the plot; users read the texts. */
  values: readonly (number | null)[];
  texts: readonly string[];
}

export interface PlotProps {
  /** Epoch seconds. */
  at: readonly number[];
  stepSeconds: number;
  series: readonly ChartSeries[];
  axisLabel: (value: number) => string;
  /** Redraws when it changes, because a canvas does not follow CSS. */
  theme: string;
  /** In pixels. */
  height: number;
  /** The point that the keyboard has reached. */
  keyed: number | null;
  onHover: (index: number | null) => void;
}

export function Plot({ at, stepSeconds, series, axisLabel, theme, height, keyed, onHover }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot | null>(null);
  const hover = useRef(onHover);
  hover.current = onHover;

  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const colour = (name: string) => resolveColour(element, name, theme);
    const draw = (width: number) =>
      new uPlot(
        {
          width,
          height,
          // At the right there is space for half of the last label.
          padding: [8, 20, 0, 0],
          legend: { show: false },
          cursor: { y: false, points: { size: 7 }, drag: { x: false, y: false } },
          scales: {
            x: { time: true, range: (_chart, low, high) => [low - stepSeconds / 2, high + stepSeconds / 2] },
            y: { range: (_chart, _low, high) => [0, topOf(high) * headroom] },
          },
          axes: [timeAxis(stepSeconds, colour), valueAxis(axisLabel, colour, height)],
          series: [{}, ...series.map((one) => seriesOptions(one, colour))],
          hooks: { setCursor: [(self) => hover.current(self.cursor.idx ?? null)] },
        },
        [[...at], ...series.map(({ values }) => [...values])] as uPlot.AlignedData,
        element,
      );
    // The browser tells the first size too, once it has laid out the page. To ask for it would lay out the page for every chart.
    const resized = new ResizeObserver(([entry]) => {
      const width = Math.max(Math.floor(entry?.contentRect.width ?? 0), 50);
      if (!drawn.current) drawn.current = draw(width);
      else if (drawn.current.width !== width) drawn.current.setSize({ width, height });
    });
    resized.observe(element);
    return () => {
      resized.disconnect();
      drawn.current?.destroy();
      drawn.current = null;
    };
  }, [at, series, stepSeconds, axisLabel, theme, height]);

  useEffect(() => {
    const chart = drawn.current;
    const moment = keyed === null ? undefined : at[keyed];
    // Outside of the plot there is no cursor.
    const left = moment === undefined ? -10 : (chart?.valToPos(moment, 'x') ?? -10);
    chart?.setCursor({ left, top: moment === undefined ? -10 : 0 }, false);
  }, [keyed, at]);

  return <div className="w-full" ref={place} style={{ height }} />;
}

type Colour = (name: string) => string;

const font = '11px "Inter Variable", system-ui, sans-serif';

function timeAxis(stepSeconds: number, colour: Colour): uPlot.Axis {
  return {
    stroke: colour('ink-3'),
    font,
    size: 28,
    space: 56,
    grid: { show: false },
    ticks: { show: false },
    values: (_chart, splits) => splits.map((split) => stepLabel(split, stepSeconds === 21_600 ? 86_400 : stepSeconds)),
    ...(stepSeconds >= 21_600 && { incrs: [86_400, 2 * 86_400, 7 * 86_400, 14 * 86_400, 30 * 86_400] }),
  };
}

/** The highest line is not cut off. */
const headroom = 1.04;
/** A chart of this height has a line at each quarter, a lower one at each half. */
const fourLinesPx = 160;

/** The round figure that no value is above. */
function topOf(high: number): number {
  const unit = 10 ** Math.floor(Math.log10(high || 1));
  return (rounds.find((round) => round * unit >= high) ?? 10) * unit;
}
/** Their quarters are short. */
const rounds = [1, 2, 4, 6, 8, 10];

function valueAxis(axisLabel: (value: number) => string, colour: Colour, height: number): uPlot.Axis {
  return {
    stroke: colour('ink-3'),
    font,
    size: (_chart, values) => 16 + Math.max(0, ...(values ?? []).map((value) => value.length)) * 6.2,
    splits: (_chart, _axis, _low, high) => {
      const top = high / headroom;
      const parts = height < fourLinesPx ? 2 : 4;
      return Array.from({ length: parts + 1 }, (_, part) => (top * part) / parts);
    },
    gap: 6,
    grid: { stroke: colour('line'), width: 1 },
    ticks: { show: false },
    values: (_chart, splits) => splits.map(axisLabel),
  };
}

function seriesOptions({ label, kind, colour: name }: ChartSeries, colour: Colour): uPlot.Series {
  const stroke = colour(name);
  if (kind === 'bars') {
    return {
      label,
      stroke,
      fill: stroke,
      width: 0,
      paths: uPlot.paths.bars?.({ size: [0.68, 28], radius: 0.15 }),
      points: { show: false },
    };
  }
  return { label, stroke, width: 1.75, spanGaps: true, points: { size: 4, fill: stroke } };
}

const resolved = new Map<string, string>();

/** The computed value of a token: a canvas understands neither var() nor light-dark(). The tokens are those of the whole page. */
function resolveColour(element: HTMLElement, name: string, theme: string): string {
  const known = resolved.get(`${theme} ${name}`);
  if (known !== undefined) return known;
  const probe = document.createElement('span');
  probe.style.color = `var(--${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  resolved.set(`${theme} ${name}`, color);
  return color;
}
