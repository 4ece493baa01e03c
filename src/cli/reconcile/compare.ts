/** Puts what was recorded beside what the provider billed. */
import type { ClassName } from '../../catalogue/price.js';
import type { Invoice } from './invoice.js';
import { type Figures, type Place, Sums } from './sums.js';

export interface Difference extends Place {
  readonly recorded: Figures;
  readonly billed: Figures;
  /** Beyond the tolerance. */
  readonly differs: boolean;
}

/** A class that an export does not have is part of another one there. */
const partOf: Readonly<Record<string, string>> = {
  cache_write_1h: 'cache_write',
  cache_write: 'input',
  cached_input: 'input',
  input_audio: 'input',
  input_image: 'input',
  reasoning: 'output',
  output_audio: 'output',
  output_image: 'output',
} satisfies Record<Exclude<ClassName, 'input' | 'output' | 'request'>, ClassName>;

const nothing: Figures = { count: 0, cost: null };

export interface RecordedLine extends Place, Figures {}

/** `tolerance` is a share of what was billed: 0.01 for one percent. */
export function compare(recorded: readonly RecordedLine[], invoice: Invoice, tolerance: number): Difference[] {
  const sums = recordedSums(recorded, invoice.classes);
  const places = new Map(
    [...invoice.sums.places, ...sums.places].map((place) => [`${place.day} ${place.model} ${place.name}`, place]),
  );
  return [...places.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, place]) => {
      const pair = { recorded: sums.get(place) ?? nothing, billed: invoice.sums.get(place) ?? nothing };
      return { ...place, ...pair, differs: isBeyond(pair, tolerance) };
    });
}

/** Classes that the export has; a cost of its own is compared with the cost of all lines. */
function recordedSums(recorded: readonly RecordedLine[], classes: ReadonlySet<string>): Sums {
  const sums = new Sums();
  for (const { day, model, name, count, cost } of recorded) {
    let billedAs = name;
    while (!classes.has(billedAs) && partOf[billedAs] !== undefined) billedAs = partOf[billedAs]!;
    if (classes.has(billedAs)) sums.add({ day, model, name: billedAs }, { count, cost });
    if (classes.has('cost')) sums.add({ day, model, name: 'cost' }, { count: 0, cost });
  }
  return sums;
}

function isBeyond({ recorded, billed }: Pick<Difference, 'recorded' | 'billed'>, tolerance: number): boolean {
  if (Math.abs(recorded.count - billed.count) > tolerance * billed.count) return true;
  if (billed.cost === null) return false;
  const difference = (recorded.cost ?? 0n) - billed.cost;
  return Number(difference < 0n ? -difference : difference) > tolerance * Number(billed.cost);
}
