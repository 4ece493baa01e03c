/** Covers a period with the fewest rows: with long sums inside, shorter ones towards its ends, and rollups where no sum fits. */
import { type SumKind, sumLengths } from './sums.js';

const dayHours = 24;

/** The generations themselves are for what no sum tells apart: who held the key, and the end user. */
export type UsageSource = SummedSource | 'generations';
export type SummedSource = 'rollups' | SumKind;

/** Rows of one length from a table: from the first hour on, before the second. */
export interface Span {
  readonly source: SummedSource;
  readonly hours: number;
  readonly from: number;
  readonly to: number;
}

interface SpanQuery {
  readonly source: SummedSource;
  /** The hours of the period. */
  readonly from: number;
  readonly to: number;
  /** No row may be longer, or begin within a multiple of it. */
  readonly wholeHours: number;
  /** The sums are complete up to this hour. */
  readonly summedTo: number;
}

interface Length {
  readonly source: SummedSource;
  readonly hours: number;
  /** The sums end there; rollups have no end. */
  readonly end: number;
}

export function spansOf({ source, from, to, wholeHours, summedTo }: SpanQuery): Span[] {
  const sums = source === 'rollups' ? [] : sumLengths;
  const lengths: Length[] = [
    { source: 'rollups', hours: dayHours, end: Number.POSITIVE_INFINITY },
    ...sums.map((hours) => ({ source, hours, end: summedTo })),
  ];
  return cover(
    from,
    to,
    lengths.filter(({ hours }) => wholeHours % hours === 0),
  );
}

/** `lengths` are tried from the last to the first; what none of them covers is left to the rollups of hours. */
function cover(from: number, to: number, lengths: readonly Length[]): Span[] {
  if (from >= to) return [];
  const last = lengths.at(-1);
  if (!last) return [{ source: 'rollups', hours: 1, from, to }];
  const { source, hours, end } = last;
  const rest = lengths.slice(0, -1);
  const first = Math.ceil(from / hours) * hours;
  const after = Math.floor(Math.min(to, end) / hours) * hours;
  if (first >= after) return cover(from, to, rest);
  return [...cover(from, first, rest), { source, hours, from: first, to: after }, ...cover(after, to, rest)];
}
