/** Finds out whether an error means a used-up daily quota, and not one of a minute, an hour, a week or a month. */

const inCodes = /\bper (?:model )?day\b|\bby day\b|\bdaily\b|\b(?:rpd|tpd|aspd|ipd)\b/;

const day = new RegExp(
  [
    /(?:\b|_)per[ _-]day(?:\b|_)/,
    /\bper (?:calendar|24|86,?400)[ -]?(?:day|h|hrs?|hours?|s|sec|seconds)\b/,
    /\/ ?d(?:ay)?\b/,
    /(?:\b|_)(?:rpd|tpd|aspd|ipd)\b/,
    /\bdaily\b/,
    /\b(?:a|each|every|one|1) day\b/,
    /\b24[- ]?(?:h|hours?|hrs?)\b/,
    /\b(?:for|of) (?:today|the day)\b/,
    /\btoday's\b/,
    /\b(?:until|again) tomorrow\b/,
    /\bmidnight\b/,
    /userbymodelbyday|\bbyday\b|perday/,
    /每天|每日|当日|当天|今日|今天/,
  ]
    .map(({ source }) => `(?:${source})`)
    .join('|'),
);

const otherWindow = new RegExp(
  [
    /(?:\b|_)per[ _-]?(?:min(?:ute)?|sec(?:ond)?|hour|week|month)(?:\b|_)/,
    /\bper (?:1|10|60)[ -]?s(?:ec|econds)?\b/,
    /\/ ?(?:m|min|minute|s|sec|second|h|hour|week|month)\b/,
    /(?:\b|_)(?:rpm|tpm|rps|qps|tps|qpm|itpm|otpm)\b/,
    /\b(?:hourly|weekly|monthly|minutely)\b/,
    /\b(?:[1-9]|1[0-2])[- ]hours?\b/,
    /byminute|perminute/,
  ]
    .map(({ source }) => `(?:${source})`)
    .join('|'),
);

const spent =
  /limit|quota|exceed|reach|exhaust|used|spent|\bhit\b|maximum|too many|allowance|allocation|\bcaps?\b|budget|\brate|throttl|depleted|resets?\b|renews?\b|\b(?:rpd|tpd)\b|[限超]/;
const spentOutright =
  /exceed|reached|exhaust|used up|have used|\bspent\b|\bhit\b|too many|ran out|run out|out of|depleted|[限超]/;
const allowance = /limit|quota|allowance|allocation|tokens?|requests?|calls?|credits?|neurons?|budget|\bcap\b/;

/** Advice on where to see or raise a daily limit does not mean that it is used up. */
const pointer = /\b(?:see|check|view|monitor|increase|raise)(?: \S+){0,3} daily\b/g;

/**
 * The words that mean a used-up daily quota; empty where a code decides, undefined where nothing does. `limited` = the status
 * itself means that a limit was reached, so that the name of the window is enough.
 */
export function dailyQuotaWords(
  codeText: string,
  words: string,
  strictly: boolean,
  limited: boolean,
): string[] | undefined {
  if (inCodes.test(codeText)) return [];
  const text = words.replace(pointer, ' ');
  const at = day.exec(text);
  if (!at) return undefined;
  // Where several windows are named, the first one is used up; the others are information.
  const other = otherWindow.exec(text);
  if (other && other.index < at.index) return undefined;
  const sentence = sentenceAt(text, at.index, at.index + at[0].length);
  const needed = strictly ? [allowance, spentOutright] : limited ? [] : [spent];
  const found = needed.map((pattern) => pattern.exec(sentence)?.[0]);
  return found.includes(undefined) ? undefined : [at[0], ...(found as string[])];
}

function sentenceAt(text: string, from: number, to: number): string {
  const before = text.slice(Math.max(0, from - 160), from);
  const after = text.slice(to, to + 160);
  return `${before.split(/[.!?;] /).at(-1)}${text.slice(from, to)}${after.split(/[.!?;](?: |$)/, 1)[0]}`;
}

/** A limit of 0 means a plan without an allowance, which no new day renews. */
export function isZeroAllowance(words: string): boolean {
  return /\blimit: 0\b(?![.,]\d)/.test(words) && !/\blimit: [1-9]/.test(words);
}
