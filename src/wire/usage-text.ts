/** Writes the `usage` of an answer as JSON text: the upstream's own members, the billed figures and the cost. */
import { usdText } from '../base/money.js';
import type { Cost, CostClass } from './cost.js';
import { withMembers } from './splice-members.js';
import type { TokenUsage } from './usage.js';

type Fields = Record<string, unknown>;

/** The members `cost` and `cost_details`. The cost is an exact decimal, which is a valid JSON number; its parts are texts. */
export function costMembers({ pico, details, tier }: Cost): string {
  let parts = '';
  for (const name in details) {
    const part = details[name as CostClass] ?? 0n;
    parts += `${parts === '' ? '' : ','}"${name}":"${usdText(part)}"`;
  }
  if (tier !== null) parts += `${parts === '' ? '' : ','}"tier":${JSON.stringify(tier)}`;
  return `"cost":${usdText(pico)},"cost_details":{${parts}}`;
}

/** A usage in its own words, as latin1 text, with the cost. */
export function withCost(text: string, cost: Cost): string {
  const members = costMembers(cost);
  // Few providers name a cost, and an object that has members ends with one of them.
  if (!text.includes('"cost') && text.endsWith('}') && text.includes(':')) return `${text.slice(0, -1)},${members}}`;
  const split = members.indexOf(',"cost_details":');
  return withMembers(text, {
    cost: members.slice('"cost":'.length, split),
    cost_details: members.slice(split + ',"cost_details":'.length),
  });
}

/** `givenText` is the original text of `given`, if known: then nothing is serialised. */
export function usageText(given: unknown, usage: TokenUsage, bill: Cost, givenText?: string): string {
  const cost = costMembers(bill);
  const own = fieldsOf(given);
  if (matchesBilled(own, usage)) {
    if (givenText && own.cost === undefined && own.cost_details === undefined)
      return `${givenText.slice(0, -1)},${cost}}`;
    return `${JSON.stringify({ ...own, cost: undefined, cost_details: undefined }).slice(0, -1)},${cost}}`;
  }
  const { promptTokens, completionTokens, cachedTokens, reasoningTokens } = usage;
  const figures = {
    ...own,
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens, ...withoutGaps(own.prompt_tokens_details) },
    completion_tokens_details: { reasoning_tokens: reasoningTokens, ...withoutGaps(own.completion_tokens_details) },
    cost: undefined,
    cost_details: undefined,
  };
  return `${JSON.stringify(figures).slice(0, -1)},${cost}}`;
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
