/** Medians, percentiles, paired ratios and the search for the highest rate that a latency bound allows. */

export function median(values) {
  const sorted = values.filter((value) => Number.isFinite(value)).sort((a, b) => a - b);
  if (sorted.length === 0) return Number.NaN;
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The smallest value that at least `share` of the sorted values do not exceed. */
export function percentile(sorted, share) {
  if (sorted.length === 0) return Number.NaN;
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
}

/** The median of several rounds, with the lowest and the highest. */
export function summaryOf(values) {
  const finite = values.filter((value) => Number.isFinite(value));
  return { value: median(finite), low: Math.min(...finite), high: Math.max(...finite), rounds: finite.length };
}

const resamples = 400;

/**
 * The ratio of a percentile of all samples of two sides that were measured in the same rounds, and between which values 95 of 100 ratios lie
 * when rounds are drawn anew with replacement. `over` and `under` have a list of samples for each round.
 */
export function ratioOfPooled(over, under, share, random = Math.random) {
  const pooled = (rounds, chosen) => percentile(Float64Array.from(chosen.flatMap((i) => rounds[i])).sort(), share);
  const ratio = (chosen) => pooled(over, chosen) / pooled(under, chosen);
  const all = over.map((_, i) => i);
  const drawn = () => all.map(() => Math.floor(random() * all.length));
  const ratios = Array.from({ length: resamples }, () => ratio(drawn())).sort((a, b) => a - b);
  return { value: ratio(all), low: percentile(ratios, 0.025), high: percentile(ratios, 0.975) };
}

/** One value a round that has both sides, so that a slow phase of the machine hits both of them. */
export function pairByRound(entries, others, combine) {
  const byRound = new Map(others.map((other) => [other.round, other]));
  return entries
    .filter(({ round }) => byRound.has(round))
    .map((entry) => combine(entry, byRound.get(entry.round)))
    .filter((value) => Number.isFinite(value));
}

/**
 * The highest rate for which `holds(rate)` is true: from `from` it doubles while that holds, or halves down to `least` until it does,
 * then halves the interval until its ends are within `precision` of each other. Returns 0 if even `least` is too much. A rate is tried
 * twice before it counts as too much, because one pause of the machine spoils one try. `triesMax` bounds the search.
 */
export async function highestRate({ from, least = from, most, precision = 0.1, triesMax = 24, holds }) {
  let tries = 0;
  const tried = async (rate) => {
    for (let i = 0; i < 2 && tries < triesMax; i++) {
      tries++;
      if (await holds(rate)) return true;
    }
    return false;
  };
  let good = 0;
  let bad = Number.POSITIVE_INFINITY;
  for (let rate = from; rate <= most && bad === Number.POSITIVE_INFINITY; rate *= 2) {
    if (await tried(rate)) good = rate;
    else bad = rate;
  }
  for (let rate = bad / 2; good === 0 && rate >= least; rate /= 2) {
    if (await tried(rate)) good = rate;
    else bad = rate;
  }
  if (good === 0 || bad === Number.POSITIVE_INFINITY) return good;
  while (bad - good > good * precision && tries < triesMax) {
    const rate = Math.round((good + bad) / 2);
    if (await tried(rate)) good = rate;
    else bad = rate;
  }
  return good;
}
