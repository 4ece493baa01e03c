/** What an answer costs: by class for the client, line by line for the record, and as text in the `usage` of the answer. */
import { usdText } from '../base/money.js';
import type { ClassName } from '../catalogue/price.js';
import { findMembers } from './json-members.js';
import { withMembers } from './splice-members.js';
import type { TokenUsage } from './usage-types.js';

/** The classes of a bill, in the order in which they are shown. */
export const costClasses = [
  'input',
  'output',
  'cache_read',
  'cache_write',
  'reasoning',
  'audio',
  'image',
  'tools',
  'request',
] as const;
export type CostClass = (typeof costClasses)[number];

/** The lines of a bill: the class that each is a part of, and its side of the answer. Tools have lines of their own. */
const tokenLines: Readonly<Record<TokenLine, { readonly class: CostClass; readonly side: Side | null }>> = {
  input: { class: 'input', side: 'prompt' },
  output: { class: 'output', side: 'completion' },
  cached_input: { class: 'cache_read', side: 'prompt' },
  cache_write: { class: 'cache_write', side: 'prompt' },
  cache_write_1h: { class: 'cache_write', side: 'prompt' },
  reasoning: { class: 'reasoning', side: 'completion' },
  input_audio: { class: 'audio', side: 'prompt' },
  output_audio: { class: 'audio', side: 'completion' },
  input_image: { class: 'image', side: 'prompt' },
  output_image: { class: 'image', side: 'completion' },
  request: { class: 'request', side: null },
};
type Side = 'prompt' | 'completion';
/** A line has the name of the price that it is billed at. */
export type TokenLine = ClassName;
export type ToolLine = `tools.${string}`;

/** The name of a tool's line has this before it. */
const toolPrefix = 'tools.';

/** All calls of tools that have no price, which are not billed. One line, because the provider chooses their names. */
export const unpricedTools = 'unpriced_tools';

export interface CostLine {
  /** A `TokenLine`, `tools.<name>` or `unpriced_tools`. */
  readonly name: string;
  /** Tokens, calls or requests. */
  readonly count: number;
  /** Pico-dollars for each. */
  readonly rate: bigint;
}

export interface BillLines {
  readonly lines: readonly CostLine[];
  /** The tier whose price applied; null for the ordinary price. */
  readonly tier: string | null;
}

/** Pico-dollars. A class without a price of its own is part of the class that it is billed as. */
export interface Cost extends BillLines {
  readonly pico: bigint;
  /** Only the classes that were used; their sum is `pico`. */
  readonly details: Readonly<Partial<Record<CostClass, bigint>>>;
  /** What a customer's own credential has paid for at the provider: the list price by class. `pico` is then the operator's fee alone. */
  readonly notional?: Notional;
}

interface Notional {
  readonly pico: bigint;
  readonly details: Cost['details'];
}

export const toolLine = (tool: string): ToolLine => `${toolPrefix}${tool}`;

/** undefined for a line that is not billed. */
export function costClassOf(line: string): CostClass | undefined {
  return line.startsWith(toolPrefix) ? 'tools' : tokenLines[line as TokenLine]?.class;
}

/** What is counted on a line. */
export function unitOf(line: string): 'token' | 'call' | 'request' {
  if (line === 'request') return 'request';
  return line.startsWith(toolPrefix) || line === unpricedTools ? 'call' : 'token';
}

/** The sums of the classes, in the order in which they are shown. */
export function detailsOfLines(lines: readonly CostLine[]): Partial<Record<CostClass, bigint>> {
  const details: Partial<Record<CostClass, bigint>> = {};
  for (const name of costClasses) {
    const own = lines.filter((line) => costClassOf(line.name) === name);
    if (own.length > 0) details[name] = own.reduce((sum, { count, rate }) => sum + BigInt(count) * rate, 0n);
  }
  return details;
}

/** A bill as the record keeps it: JSON, by hand because every request writes one. */
export function billText({ lines, tier }: BillLines): string {
  let text = '';
  for (const { name, count, rate } of lines) {
    const quoted = name.startsWith(toolPrefix) ? JSON.stringify(name) : `"${name}"`;
    text += `${text === '' ? '' : ','}[${quoted},${count},"${rate}"]`;
  }
  return tier === null ? `{"lines":[${text}]}` : `{"lines":[${text}],"tier":${JSON.stringify(tier)}}`;
}

/** Reads what `billText` wrote. */
export function readBill(text: string): BillLines {
  const { lines, tier = null } = JSON.parse(text) as { lines: [string, number, string][]; tier?: string };
  return { lines: lines.map(([name, count, rate]) => ({ name, count, rate: BigInt(rate) })), tier };
}

type Fields = Record<string, unknown>;

/** What stands before the cost of the two sides of an answer, which OpenRouter's client calls by these names. */
export interface SideNames {
  readonly prompt: string;
  readonly completion: string;
}
export const sideNames = (prompt: 'prompt' | 'input', completion: 'completions' | 'output'): SideNames => ({
  prompt: `"upstream_inference_${prompt}_cost":`,
  completion: `,"upstream_inference_${completion}_cost":`,
});
const chatSides = sideNames('prompt', 'completions');

/** Put together once: each `+` of a text leaves something to the garbage collector. */
const classStarts = Object.fromEntries(costClasses.map((name) => [name, `"${name}":"`]));

/** Calls of tools and the price of a request belong to neither side. */
const linesOf = (side: Side): ReadonlySet<string> =>
  new Set(Object.keys(tokenLines).filter((name) => tokenLines[name as TokenLine].side === side));
const promptLines = linesOf('prompt');
const completionLines = linesOf('completion');

/**
 * The members `cost` and `cost_details`. The cost is an exact decimal, which is a valid JSON number; its parts are texts. OpenRouter's
 * client demands the cost of the two sides as numbers in `cost_details`; they are no classes.
 */
export function costMembers({ pico, notional, details, lines, tier }: Cost, names = chatSides): string {
  const cost = usdText(pico);
  if (notional === undefined) {
    const { classes, sides } = partsOf(details, lines, names);
    const parts = tier === null ? classes : `${classes}"tier":${JSON.stringify(tier)},`;
    return `"cost":${cost},"cost_details":{${parts}"upstream_inference_cost":${cost},${sides}}`;
  }
  // The fee, and what the provider charges the customer.
  const listed = usdText(notional.pico);
  const { classes, sides } = partsOf(notional.details, lines, names);
  const parts = tier === null ? classes.slice(0, -1) : `${classes}"tier":${JSON.stringify(tier)}`;
  return (
    `"cost":${cost},"is_byok":true,"notional_cost":${listed},"notional_cost_details":{${parts}}` +
    `,"cost_details":{"fee":"${cost}","upstream_inference_cost":${listed},${sides}}`
  );
}

/** The amounts by class, each with a comma behind it, and those of the two sides. */
function partsOf(
  details: Cost['details'],
  lines: readonly CostLine[],
  names: SideNames,
): { readonly classes: string; readonly sides: string } {
  let classes = '';
  let prompt = '0';
  let completion = '0';
  let hasOthers = false;
  for (const name in details) {
    const part = usdText(details[name as CostClass] ?? 0n);
    classes += `${classStarts[name]}${part}",`;
    if (name === 'input') prompt = part;
    else if (name === 'output') completion = part;
    else hasOthers = true;
  }
  if (hasOthers) {
    prompt = usdText(sumOf(lines, promptLines));
    completion = usdText(sumOf(lines, completionLines));
  }
  return { classes, sides: `${names.prompt}${prompt}${names.completion}${completion}` };
}

function sumOf(lines: readonly CostLine[], names: ReadonlySet<string>): bigint {
  let sum = 0n;
  for (const { name, count, rate } of lines) if (names.has(name)) sum += BigInt(count) * rate;
  return sum;
}

/** A usage in its own words, as latin1 text, with the cost. */
export function withCost(text: string, cost: Cost, names?: SideNames): string {
  const members = costMembers(cost, names);
  // Few providers name a cost, and an object that has members ends with one of them.
  if (!namesCost(text, cost) && text.endsWith('}') && text.includes(':')) return `${text.slice(0, -1)},${members}}`;
  const own = `{${members}}`;
  const { keys, valueStarts, ends } = findMembers(own)!;
  return withMembers(text, Object.fromEntries(keys.map((key, i) => [key, own.slice(valueStarts[i], ends[i])])));
}

function namesCost(text: string, { notional }: Cost): boolean {
  return (
    text.includes('"cost') || (notional !== undefined && (text.includes('"is_byok') || text.includes('"notional_')))
  );
}

/**
 * The `usage` of an answer as JSON text: the upstream's own members, the billed figures and the cost. `givenText` is the original text of
 * `given`, if known: then nothing is serialised.
 */
export function usageText(given: unknown, usage: TokenUsage, bill: Cost, givenText?: string): string {
  const cost = costMembers(bill);
  const own = fieldsOf(given);
  if (matchesBilled(own, usage)) {
    const isFree = own.cost === undefined && own.cost_details === undefined && own.is_byok === undefined;
    if (givenText && isFree) return `${givenText.slice(0, -1)},${cost}}`;
    return `${JSON.stringify({ ...own, ...withoutCost(bill) }).slice(0, -1)},${cost}}`;
  }
  const { promptTokens, completionTokens, cachedTokens, reasoningTokens } = usage;
  const figures = {
    ...own,
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens, ...withoutGaps(own.prompt_tokens_details) },
    completion_tokens_details: { reasoning_tokens: reasoningTokens, ...withoutGaps(own.completion_tokens_details) },
    ...withoutCost(bill),
  };
  return `${JSON.stringify(figures).slice(0, -1)},${cost}}`;
}

/** What the upstream says of the cost, which ours replaces. */
function withoutCost({ notional }: Cost): Fields {
  const paid = { cost: undefined, cost_details: undefined };
  return notional ? { ...paid, is_byok: undefined, notional_cost: undefined, notional_cost_details: undefined } : paid;
}

/**
 * The upstream's object is passed on where a client reads the billed figures from it. Details under OpenAI's names stay as the
 * upstream wrote them, even where the bill limits them to their total.
 */
function matchesBilled(own: Fields, { promptTokens, completionTokens, cachedTokens }: TokenUsage): boolean {
  return (
    own.prompt_tokens === promptTokens &&
    own.completion_tokens === completionTokens &&
    own.total_tokens === promptTokens + completionTokens &&
    (cachedTokens === 0 || typeof fieldsOf(own.prompt_tokens_details).cached_tokens === 'number')
  );
}

/** The upstream's details without null members, which the billed figures replace. */
function withoutGaps(details: unknown): Fields {
  return Object.fromEntries(Object.entries(fieldsOf(details)).filter(([, value]) => value !== null));
}

function fieldsOf(value: unknown): Fields {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Fields) : {};
}
