/**
 * Writes what `bill-json.ts` returns as text, straight from the stored text of a bill. An export does this for every row, so it uses no big
 * integers, and writes quotes in the form that the line of the export needs.
 */
import { usdText } from '../base/money.js';
import { costClasses, costClassOf, readBill, unitOf } from '../wire/cost.js';
import { billJson, usageJson } from './bill-json.js';
import type { Generation } from './generation.js';

export type TokenFigures = Pick<Generation, 'promptTokens' | 'completionTokens' | 'cachedTokens' | 'reasoningTokens'>;

export interface BillTexts {
  /** As it is. */
  serviceTier: string | null;
  /** JSON texts, in the style that was asked for. */
  usage: string;
  costDetails: string | null;
  costLines: string | null;
}

type StoredLine = readonly [name: string, count: number, rate: string];

/** How a JSON text stands in a line: what is around it, and what is written for each of its quotes. */
interface TextStyle {
  readonly around: string;
  readonly quote: string;
  /** Any JSON text in this style. */
  encode(json: string): string;
}

const textStyles = {
  plain: { around: '', quote: '"', encode: (json) => json },
  json: { around: '"', quote: '\\"', encode: (json) => JSON.stringify(json) },
  csv: { around: '"', quote: '""', encode: (json) => `"${json.replaceAll('"', '""')}"` },
} as const satisfies Record<string, TextStyle>;

/** Prices of the rows before. There are as many as the catalogue has, so the limit only guards against damaged rows. */
const prices = new Map<string, { pico: number; usd: string }>();
const pricesMax = 10_000;

/** A name without characters that any style escapes. */
const plainName = /^[\w.-]+$/;

export type BillWriter = (tokens: TokenFigures, stored: string | null) => BillTexts;

/** `stored` is the column `bill`. */
export function billWriter(style: keyof typeof textStyles): BillWriter {
  const { around, quote, encode } = textStyles[style];
  const phrase = (json: string) => json.replaceAll('"', quote);
  const classPhrases = costClasses.map((name) => phrase(`"${name}":"`));
  const [afterName, afterCount, afterUnit, afterPrice, lineEnd] = [
    ...['","count":', ',"unit":"', '","price_usd":"', '","cost_usd":"', '"}'].map(phrase),
  ] as [string, string, string, string, string];
  const lineStart = phrase('{"name":"');
  const tierStart = phrase('"tier":"');
  const writeUsage = usageWriter(phrase);
  /** By class, and used again for every row: the sum, -1 where the class has no line, and its text where that is known. */
  const sums: number[] = costClasses.map(() => -1);
  const sumTexts: string[] = costClasses.map(() => '');

  const exact = (tokens: TokenFigures, stored: string): BillTexts => {
    const bill = readBill(stored);
    const { cost_details: details, cost_lines: lines } = billJson(bill);
    return {
      serviceTier: bill.tier,
      usage: encode(JSON.stringify(usageJson({ ...tokens, bill }))),
      costDetails: encode(JSON.stringify(details)),
      costLines: encode(JSON.stringify(lines)),
    };
  };

  return (tokens, stored) => {
    if (stored === null) {
      const usage = around + writeUsage(tokens, []) + around;
      return { serviceTier: null, usage, costDetails: null, costLines: null };
    }
    const { lines, tier = null } = JSON.parse(stored) as { lines: StoredLine[]; tier?: string };
    if (tier !== null && !plainName.test(tier)) return exact(tokens, stored);
    sums.fill(-1);
    let costLines = '';
    for (const line of lines) {
      // By their places: taking a list apart costs more than all that is done with its parts.
      const name = line[0];
      const count = line[1];
      const price = priceOf(line[2]);
      const cost = count * price.pico;
      const usd = dollars(cost);
      const place = costClasses.indexOf(costClassOf(name)!);
      if (place >= 0) {
        // Most classes have one line, whose text is that of the sum.
        sumTexts[place] = sums[place] === -1 ? usd : '';
        sums[place] = Math.max(sums[place]!, 0) + cost;
      }
      // Above 2^53 pico-dollars, which are about 9,000 dollars, numbers are not exact.
      const isExact = Number.isSafeInteger(cost) && Number.isSafeInteger(sums[place] ?? 0);
      if (!isExact || (name.startsWith('tools.') && !plainName.test(name))) return exact(tokens, stored);
      costLines +=
        (costLines === '' ? lineStart : `,${lineStart}`) +
        `${name}${afterName}${count}${afterCount}${unitOf(name)}${afterUnit}${price.usd}${afterPrice}${usd}${lineEnd}`;
    }
    let costDetails = '';
    for (let i = 0; i < sums.length; i++) {
      if (sums[i]! < 0) continue;
      costDetails += `${costDetails === '' ? '' : ','}${classPhrases[i]}${sumTexts[i] || dollars(sums[i]!)}${quote}`;
    }
    if (tier !== null) costDetails += `${costDetails === '' ? '' : ','}${tierStart}${tier}${quote}`;
    return {
      serviceTier: tier,
      usage: around + writeUsage(tokens, lines) + around,
      costDetails: `${around}{${costDetails}}${around}`,
      costLines: `${around}[${costLines}]${around}`,
    };
  };
}

function usageWriter(phrase: (json: string) => string) {
  const phrases = [
    ...['{"prompt_tokens":', ',"completion_tokens":', ',"total_tokens":'],
    ...[',"prompt_tokens_details":{"cached_tokens":', ',"cache_write_tokens":', ',"cache_write_1h_tokens":'],
    ...[',"audio_tokens":', ',"image_tokens":', '},"completion_tokens_details":{"reasoning_tokens":'],
  ].map(phrase);
  const [prompt, completion, total, cached, written, writtenHour, audio, image, reasoning] = phrases as [
    ...[string, string, string, string, string, string, string, string, string],
  ];
  return (tokens: TokenFigures, lines: readonly StoredLine[]): string => {
    const { promptTokens, completionTokens, cachedTokens, reasoningTokens } = tokens;
    let [write, write1h, audioIn, imageIn, audioOut, imageOut] = [0, 0, 0, 0, 0, 0];
    for (const line of lines) {
      const name = line[0];
      const count = line[1];
      if (name === 'cache_write') write += count;
      else if (name === 'cache_write_1h') write1h += count;
      else if (name === 'input_audio') audioIn += count;
      else if (name === 'input_image') imageIn += count;
      else if (name === 'output_audio') audioOut += count;
      else if (name === 'output_image') imageOut += count;
    }
    return (
      `${prompt}${promptTokens}${completion}${completionTokens}${total}${promptTokens + completionTokens}${cached}${cachedTokens}` +
      `${written}${write}${writtenHour}${write1h}${audio}${audioIn}${image}${imageIn}${reasoning}${reasoningTokens}` +
      `${audio}${audioOut}${image}${imageOut}}}`
    );
  };
}

function priceOf(rate: string): { pico: number; usd: string } {
  const known = prices.get(rate);
  if (known) return known;
  if (prices.size >= pricesMax) prices.clear();
  const price = { pico: Number(rate), usd: usdText(BigInt(rate)) };
  prices.set(rate, price);
  return price;
}

/** As `usdText`, for an amount from 0 to 2^53. */
function dollars(pico: number): string {
  const whole = Math.floor(pico / 1e12);
  const rest = pico - whole * 1e12;
  if (rest === 0) return String(whole);
  const digits = String(rest).padStart(12, '0');
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === 0x30) end--;
  return `${whole}.${digits.slice(0, end)}`;
}
