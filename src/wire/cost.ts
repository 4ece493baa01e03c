/** What an answer costs: by class for the client, and line by line for the record. */

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

/** The lines of a bill, named as the prices of a route are, and the class that each is a part of. Tools have lines of their own. */
const classOfLine = {
  input: 'input',
  output: 'output',
  cached_input: 'cache_read',
  cache_write: 'cache_write',
  cache_write_1h: 'cache_write',
  reasoning: 'reasoning',
  input_audio: 'audio',
  output_audio: 'audio',
  input_image: 'image',
  output_image: 'image',
  request: 'request',
} as const satisfies Record<string, CostClass>;
export type TokenLine = keyof typeof classOfLine;
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
}

export const toolLine = (tool: string): ToolLine => `${toolPrefix}${tool}`;

/** undefined for a line that is not billed. */
export function costClassOf(line: string): CostClass | undefined {
  return line.startsWith(toolPrefix) ? 'tools' : classOfLine[line as TokenLine];
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
