/**
 * Writes what `bill-json.ts` returns as JSON text, straight from the stored text of a bill. An export does this for every row, and without
 * big integers it takes a third of the time.
 */
import { usdText } from '../base/money.js';
import { costClasses, costClassOf, readBill, unitOf } from '../wire/cost.js';
import { billJson, usageJson } from './bill-json.js';
import type { Generation } from './generation.js';

export type TokenFigures = Pick<Generation, 'promptTokens' | 'completionTokens' | 'cachedTokens' | 'reasoningTokens'>;

export interface BillTexts {
  serviceTier: string | null;
  usage: string;
  costDetails: string | null;
  costLines: string | null;
}

type StoredLine = readonly [name: string, count: number, rate: string];

/** Prices of the rows before. There are as many as the catalogue has, so the limit only guards against damaged rows. */
const prices = new Map<string, { pico: number; usd: string }>();
const pricesMax = 10_000;

/** By class, and used again for every row: the sum, -1 where the class has no line, and its text where that is known. */
const sums: number[] = costClasses.map(() => -1);
const sumTexts: string[] = costClasses.map(() => '');

/** `stored` is the column `bill`. */
export function billTexts(tokens: TokenFigures, stored: string | null): BillTexts {
  if (stored === null) return { serviceTier: null, usage: usageText(tokens, []), costDetails: null, costLines: null };
  const { lines, tier = null } = JSON.parse(stored) as { lines: StoredLine[]; tier?: string };
  sums.fill(-1);
  sumTexts.fill('');
  let costLines = '';
  for (const [name, count, rate] of lines) {
    const price = priceOf(rate);
    const cost = count * price.pico;
    const place = costClasses.indexOf(costClassOf(name)!);
    const usd = dollars(cost);
    if (place >= 0) {
      // Most classes have one line, whose text is that of the sum.
      sumTexts[place] = sums[place] === -1 ? usd : '';
      sums[place] = Math.max(sums[place]!, 0) + cost;
    }
    if (!Number.isSafeInteger(cost) || !Number.isSafeInteger(sums[place] ?? 0)) return exactTexts(tokens, stored);
    const quoted = isPlain(name) ? `"${name}"` : JSON.stringify(name);
    costLines += `${costLines === '' ? '' : ','}{"name":${quoted},"count":${count},"unit":"${unitOf(name)}","price_usd":"${price.usd}","cost_usd":"${usd}"}`;
  }
  let costDetails = '';
  for (let i = 0; i < sums.length; i++)
    if (sums[i]! >= 0)
      costDetails += `${costDetails === '' ? '' : ','}"${costClasses[i]}":"${sumTexts[i] || dollars(sums[i]!)}"`;
  if (tier !== null) costDetails += `${costDetails === '' ? '' : ','}"tier":${JSON.stringify(tier)}`;
  return {
    serviceTier: tier,
    usage: usageText(tokens, lines),
    costDetails: `{${costDetails}}`,
    costLines: `[${costLines}]`,
  };
}

/** For amounts above 2^53 pico-dollars, which are about 9,000 dollars. */
function exactTexts(tokens: TokenFigures, stored: string): BillTexts {
  const bill = readBill(stored);
  const { cost_details: details, cost_lines: lines } = billJson(bill);
  return {
    serviceTier: bill.tier,
    usage: JSON.stringify(usageJson({ ...tokens, bill })),
    costDetails: JSON.stringify(details),
    costLines: JSON.stringify(lines),
  };
}

function usageText(tokens: TokenFigures, lines: readonly StoredLine[]): string {
  const { promptTokens, completionTokens, cachedTokens, reasoningTokens } = tokens;
  let [write, write1h, audioIn, imageIn, audioOut, imageOut] = [0, 0, 0, 0, 0, 0];
  for (const [name, count] of lines) {
    if (name === 'cache_write') write += count;
    else if (name === 'cache_write_1h') write1h += count;
    else if (name === 'input_audio') audioIn += count;
    else if (name === 'input_image') imageIn += count;
    else if (name === 'output_audio') audioOut += count;
    else if (name === 'output_image') imageOut += count;
  }
  return (
    `{"prompt_tokens":${promptTokens},"completion_tokens":${completionTokens},"total_tokens":${promptTokens + completionTokens},` +
    `"prompt_tokens_details":{"cached_tokens":${cachedTokens},"cache_write_tokens":${write},"cache_write_1h_tokens":${write1h},` +
    `"audio_tokens":${audioIn},"image_tokens":${imageIn}},"completion_tokens_details":{"reasoning_tokens":${reasoningTokens},` +
    `"audio_tokens":${audioOut},"image_tokens":${imageOut}}}`
  );
}

function priceOf(rate: string): { pico: number; usd: string } {
  const known = prices.get(rate);
  if (known) return known;
  if (prices.size >= pricesMax) prices.clear();
  const price = { pico: Number(rate), usd: usdText(BigInt(rate)) };
  prices.set(rate, price);
  return price;
}

const isPlain = (name: string): boolean => !name.startsWith('tools.');

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
