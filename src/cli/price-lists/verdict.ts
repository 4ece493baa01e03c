/** Judges the figures of the catalogue beside those of public lists, by the date and the kind of source and by the majority of the lists. */
import { dateMs } from '../../catalogue/dates.js';
import {
  type ClassPrices,
  type Price,
  priceAt,
  priceClasses,
  priceProvenance,
  type Rates,
} from '../../catalogue/price.js';
import type { Route } from '../../catalogue/route.js';
import type { Found, ListedRoute } from './match.js';
import { bandPrefix } from './read-list.js';

/**
 * `better sourced`: the catalogue has another figure than a list, and it is the better one, because the list's is a known artefact, or
 * because the catalogue's is from the provider itself and as new as the list, and the lists do not agree on another.
 */
export type Verdict = 'equal' | 'better sourced' | 'differs';

export interface JudgedFigure {
  readonly route: string;
  /** Such as `cached_input`, `above 200k output` or `flex input`. */
  readonly figure: string;
  readonly verdict: Verdict;
  /** USD for a million tokens, or for a request; null where the catalogue has no such figure. */
  readonly ours: number | null;
  readonly source: string | null;
  readonly asOf: string | null;
  readonly theirs: readonly TheirFigure[];
  /** What the majority and the dates say; empty where all are equal. */
  readonly reason: string;
}

interface TheirFigure {
  readonly list: string;
  readonly asOf: string;
  readonly value: number;
}

/** Figures that differ by less than this share are equal: lists round. */
const tolerance = 0.02;

/** The figures of a route that at least one list has. */
export function judgedFigures({ route, found }: ListedRoute, nowMs: number): JudgedFigure[] {
  const ours = figuresOf(priceAt(route.price!, nowMs));
  const names = new Set(found.flatMap(({ model }) => [...model.figures.keys()]));
  return [...names].flatMap((figure) => {
    // An embedding or a ranking has no output, and some lists repeat the price of the input there.
    if (route.model.kind !== undefined && route.model.kind !== 'chat' && figure === 'output') return [];
    const stated = ours.get(figure) ?? null;
    // Without a price of its own a class costs what its tokens cost anyway, which a list may spell out.
    const value = stated ?? fallbackOf(figure, ours);
    const theirs = found.filter(({ model }) => model.figures.has(figure));
    return value === null ? [] : [judgedFigure({ route, figure, stated, value, found: theirs })];
  });
}

/** Null where a band or a tier of the list is none of the catalogue's. */
function fallbackOf(figure: string, ours: ReadonlyMap<string, number>): number | null {
  const [, prefix = '', name = ''] = /^(.* )?(\w+)$/.exec(figure) ?? [];
  return ours.get(`${prefix}${name.startsWith('output') ? 'output' : 'input'}`) ?? null;
}

interface Asked {
  readonly route: Route;
  readonly figure: string;
  readonly stated: number | null;
  readonly value: number;
  readonly found: readonly Found[];
}

function judgedFigure({ route, figure, stated, value, found }: Asked): JudgedFigure {
  const { source, asOf } = priceProvenance(route);
  const theirs = found.map(({ list, model }) => ({
    list: list.name,
    asOf: list.asOf,
    value: rounded(model.figures.get(figure)!),
  }));
  const { verdict, reason } = judgement({ route, figure, value, found, theirs });
  return { route: route.id, figure, verdict, ours: stated, source, asOf, theirs, reason };
}

function judgement({
  route,
  figure,
  value,
  found,
  theirs,
}: Omit<Asked, 'stated'> & { theirs: readonly TheirFigure[] }): Pick<JudgedFigure, 'verdict' | 'reason'> {
  const against = theirs.filter((each) => !isNear(each.value, value));
  if (against.length === 0) return { verdict: 'equal', reason: '' };
  const artefacts = new Map(
    found.flatMap(({ list, model }) => {
      const artefact = artefactOf(model.figures, route, figure);
      return artefact === undefined ? [] : [[list.name as string, `${list.name} ${artefact}`] as const];
    }),
  );
  const left = against.filter(({ list }) => !artefacts.has(list));
  const notes = against.flatMap(({ list }) => artefacts.get(list) ?? []);
  if (left.length === 0) return { verdict: 'better sourced', reason: notes.join('; ') };
  const agree = theirs.length - against.length;
  const largest = Math.max(...left.map(({ value: one }) => left.filter((each) => isNear(each.value, one)).length));
  const outvoted = largest > 1 && largest > agree;
  const { source, asOf } = priceProvenance(route);
  const page = officialPart(source);
  const newest = left
    .map((each) => each.asOf)
    .sort()
    .at(-1)!;
  const isAsNew = asOf !== null && (dateMs(asOf) ?? 0) >= (dateMs(newest) ?? 0);
  const age = isAsNew
    ? `ours is of ${asOf}, theirs of ${newest}`
    : `theirs is newer (${newest}, ours ${asOf ?? 'undated'})`;
  const votes = `${agree} of ${theirs.length} ${theirs.length === 1 ? 'list' : 'lists'} with ours, ${largest} with another`;
  const reason = [...notes, votes, age, page === null ? 'ours is from lists too' : `ours: ${page}`].join('; ');
  return { verdict: page !== null && isAsNew && !outvoted ? 'better sourced' : 'differs', reason };
}

/** The figures of a price, named as those of the lists. */
function figuresOf(price: Price): Map<string, number> {
  const figures = new Map<string, number>();
  addRates(figures, '', price);
  for (const [tier, rates] of price.tiers ?? []) addRates(figures, `${tier} `, rates);
  return figures;
}

function addRates(figures: Map<string, number>, prefix: string, rates: Rates): void {
  addClasses(figures, prefix, rates);
  for (const band of rates.bands ?? []) addClasses(figures, `${prefix}${bandPrefix(band.fromTokens)}`, band);
}

function addClasses(figures: Map<string, number>, prefix: string, classes: ClassPrices): void {
  for (const [key, name] of priceClasses) {
    const pico = classes[key] ?? null;
    if (pico !== null) figures.set(`${prefix}${name}`, Number(pico) / (name === 'request' ? 1e12 : 1e6));
  }
}

function isNear(a: number, b: number): boolean {
  return Math.abs(a - b) <= tolerance * Math.max(a, b);
}

/** Without the dust of a float. */
function rounded(value: number): number {
  return Number(value.toFixed(6));
}

type Figures = ReadonlyMap<string, number>;

/** How a list came to a figure that no provider asks; undefined where it is none of the known ways. */
function artefactOf(theirs: Figures, { price }: Route, figure: string): string | undefined {
  const ours = figuresOf(price!);
  const [input, output] = [theirs.get('input'), theirs.get('output')];
  const [ourInput, ourOutput] = [ours.get('input')!, ours.get('output')!];
  if (input !== undefined && output !== undefined && (figure === 'input' || figure === 'output')) {
    if (isNear(input, ourOutput) && isNear(output, ourInput)) return 'has input and output the wrong way round';
    const other = figure === 'input' ? isNear(output, ourOutput) : isNear(input, ourInput);
    const [their, our] = figure === 'input' ? [input, ourInput] : [output, ourOutput];
    if (other && (isNear(their, our * 10) || isNear(their * 10, our))) return 'has the decimal point in another place';
  }
  return conversionOf(theirs, price!);
}

/** Lists have prices in another currency unconverted, or at a rate of their own. */
function conversionOf(theirs: Figures, { published }: Price): string | undefined {
  if (!published?.input || !published.output || !published.rate) return undefined;
  const [input, output] = [Number(published.input), Number(published.output)];
  const theirInput = theirs.get('input') ?? 0;
  const theirOutput = theirs.get('output') ?? theirInput;
  const isEmbedding = output === 0;
  const rate = isEmbedding ? theirInput / input : theirOutput / output;
  // Two decimals of a small figure are a coarse measure of a rate.
  const fits = isEmbedding || Math.abs(theirInput - input * rate) <= Math.max(0.006, tolerance * theirInput);
  if (!fits) return undefined;
  if (isNear(rate, 1)) return `has the ${published.currency} unconverted`;
  const near = Math.abs(rate / Number(published.rate.usd) - 1) <= 0.15;
  return near ? `converts the same ${published.currency} at ${rate.toFixed(2)}` : undefined;
}

const ofAnother = /\((?!in USD|by )[^)]*\)|^\s*[\w ]+: /;
const official =
  /\bpages?\b|docs?\b|documentation|price list|prices in|catalogue|model cards?|https:\/\/(?!github\.com)/i;

/** The part of a source that is the provider's own word on the price; null where all of it is lists. A part about limits or places is not. */
function officialPart(source: string | null): string | null {
  const parts = (source ?? '').split(/[,;] /).filter((part) => !ofAnother.test(part));
  return parts.find((part) => official.test(part))?.trim() ?? null;
}
