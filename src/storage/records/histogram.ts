/**
 * Histograms of latencies and speeds. A histogram is one whole number with twelve decimal digits for each bucket, so PostgreSQL adds
 * histograms by adding numbers, and a sum of any number of rollups is exact.
 */

/** Decimal digits for the count of a bucket. */
const digits = 12;

/**
 * The lower bounds of the buckets from the second on; the first bucket is below 1. Up to 20 a bucket is 1 wide, above that its bounds
 * differ by a tenth. Stored figures depend on this list, so it never changes.
 */
const histogramBounds: readonly number[] = boundsOf();

function boundsOf(): number[] {
  const bounds = Array.from({ length: 20 }, (_, i) => i + 1);
  for (let bound = 20; bound < 3_600_000; ) {
    bound = Math.ceil(bound * 1.1);
    bounds.push(bound);
  }
  return bounds;
}

/** The number of the bucket that a value belongs to. */
export function bucketOf(value: number): number {
  let [low, high] = [0, histogramBounds.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (histogramBounds[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The decimal text of a histogram. */
export function histogramText(counts: ReadonlyMap<number, number>): string {
  if (counts.size === 0) return '0';
  const buckets = [...counts.keys()].sort((a, b) => b - a);
  const last = buckets[0]!;
  let text = '';
  for (let bucket = last; bucket >= 0; bucket--) text += String(counts.get(bucket) ?? 0).padStart(digits, '0');
  return text;
}

/** The value that a share of the counted values is at most, to within a twentieth; null where nothing was counted. */
export function percentileOf(histogram: string, share: number): number | null {
  return percentilesOf(histogram, [share])[0]!;
}

/** Several of one histogram, which is long and is read once. */
export function percentilesOf(histogram: string, shares: readonly number[]): (number | null)[] {
  const counts: number[] = [];
  for (let end = histogram.length; end > 0; end -= digits) {
    counts.push(Number(histogram.slice(Math.max(end - digits, 0), end)));
  }
  const total = counts.reduce((sum, count) => sum + count, 0);
  return shares.map((share) =>
    total === 0 ? null : middleOf(bucketAt(counts, Math.max(Math.ceil(total * share), 1))),
  );
}

function bucketAt(counts: readonly number[], rank: number): number {
  let seen = 0;
  return counts.findIndex((count) => {
    seen += count;
    return seen >= rank;
  });
}

/** Values are mostly whole, so a bucket that is 1 wide stands for its lower bound. */
function middleOf(bucket: number): number {
  const low = histogramBounds[bucket - 1] ?? 0;
  const high = histogramBounds[bucket] ?? low;
  return high - low <= 1 ? low : Math.round((low + high) / 2);
}

/** The SQL of the histogram of one value; a null value counts as none. */
export const histogramSql = (value: string): string =>
  `('1e' || (${digits} * width_bucket(${value}, '{${histogramBounds.join(',')}}'::float8[])))::numeric`;
