/** From what an upstream sent to what it means: by its words first, because statuses lie, and by its status last (§7.5.1). */
import type { Meaning } from '../failure.js';
import { wordRules } from './words.js';

export interface Refusal {
  status: number;
  /** Message, codes and types of the body, as one text. */
  text: string;
  /** The body is a front page of a proxy, not an answer of the provider. */
  markup: boolean;
}

export function classify({ status, text, markup }: Refusal): Meaning {
  if (markup) return status >= 200 && status < 300 ? 'malformed' : 'server_error';
  const plainly = byStatus(status);
  const told = byWords(status, text.replace(quotation, ' '));
  // Inside quotes a rejection repeats what the caller sent (a tool named `daily_report`): no word of it may count against
  // the route. Where the status speaks of no rejection they may be another server's own words, passed on.
  return told ?? (plainly === 'rejected' ? plainly : (byWords(status, text) ?? plainly));
}

/** An apostrophe opens no quotation. */
const quotation = /"[^"]{1,200}"|`[^`]{1,200}`|(?<!\w)'[^']{1,200}'(?!\w)/g;

function byWords(status: number, text: string): Meaning | undefined {
  return wordRules.find(({ words, statuses }) => words.test(text) && (!statuses || statuses(status)))?.meaning;
}

function byStatus(status: number): Meaning {
  if (status === 401 || status === 403 || status === 402) return 'auth';
  if (status === 404 || status === 410) return 'unknown_model';
  if (status === 408) return 'server_error';
  if (status === 429) return 'rate_limit';
  if (status === 501) return 'rejected';
  if (status >= 400 && status < 500) return 'rejected';
  if (status >= 200 && status < 400) return 'malformed';
  return 'server_error';
}

/** Everything in an error body that can tell its meaning. */
export function tellingText(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  if (value === null || typeof value !== 'object' || depth > 5) return '';
  return Object.values(value)
    .map((item) => tellingText(item, depth + 1))
    .filter((text) => text !== '')
    .join(' ');
}
