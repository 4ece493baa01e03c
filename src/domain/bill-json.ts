/** The usage and the bill of a generation, as the API shows them. */
import { usdText } from '../base/money.js';
import { type BillLines, detailsOfLines, type TokenLine, unitOf } from '../wire/cost.js';
import type { Generation } from './generation.js';

type Figures = Pick<Generation, 'promptTokens' | 'completionTokens' | 'cachedTokens' | 'reasoningTokens' | 'bill'>;

/** Every class of tokens, with OpenAI's names. A class that the route has no price for is a part of the class that it is billed as. */
export function usageJson({ promptTokens, completionTokens, cachedTokens, reasoningTokens, bill }: Figures) {
  const countOf = (name: TokenLine) =>
    bill?.lines.reduce((sum, line) => (line.name === name ? sum + line.count : sum), 0) ?? 0;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: {
      cached_tokens: cachedTokens,
      cache_write_tokens: countOf('cache_write'),
      cache_write_1h_tokens: countOf('cache_write_1h'),
      audio_tokens: countOf('input_audio'),
      image_tokens: countOf('input_image'),
    },
    completion_tokens_details: {
      reasoning_tokens: reasoningTokens,
      audio_tokens: countOf('output_audio'),
      image_tokens: countOf('output_image'),
    },
  };
}

/**
 * Both null where nothing was billed, and for records of versions that did not keep it. `feePico` is what the account paid where its own
 * credential has served: the lines are then those of the list price.
 */
export function billJson(bill: BillLines | null, feePico: bigint | null = null) {
  if (bill === null) return { cost_details: null, notional_cost_details: null, cost_lines: null };
  const classes = Object.entries(detailsOfLines(bill.lines)).map(([name, pico]) => [name, usdText(pico)]);
  const details = { ...Object.fromEntries(classes), ...(bill.tier !== null && { tier: bill.tier }) };
  return {
    cost_details: feePico === null ? details : { fee: usdText(feePico) },
    notional_cost_details: feePico === null ? null : details,
    cost_lines: bill.lines.map(({ name, count, rate }) => ({
      name,
      count,
      unit: unitOf(name),
      price_usd: usdText(rate),
      cost_usd: usdText(BigInt(count) * rate),
    })),
  };
}
