/**
 * Decides what an error of an upstream means: by its codes and words first, because statuses are often wrong, and by its status
 * last. The rule tables hold the words.
 */
import { dailyQuotaWords, isZeroAllowance } from './daily-quota.js';
import type { ErrorText } from './error-text.js';
import { effectOf, type Meaning } from './failure.js';
import { type Family, meaningOfCode } from './families.js';
import { plainRejection, requestWords, serverWords } from './request-rules.js';
import { missingRules, routeRules, territory } from './route-rules.js';
import type { Rule } from './rule.js';
import { meaningOfStatus } from './statuses.js';
import { type WordSets, wordsOf } from './words.js';

interface Refusal {
  /** The status of the response; 200 for any 2xx that holds an error. */
  status: number;
  error: ErrorText;
  family: Family | undefined;
}

/** No provider rejects a request with these statuses, so their text never repeats the request. */
const neverRejections = new Set([401, 402, 407, 408, 429]);

/** A meaning and the words of the text that decided it; no words where the status or a code decided. */
export interface Decision {
  readonly meaning: Meaning;
  readonly words: readonly string[];
}

export function classify({ status: responseStatus, error, family }: Refusal): Decision {
  const coded = meaningOfCode(family, error.codes);
  if (coded) return { meaning: coded, words: [] };
  const status = effectiveStatus(responseStatus, error.status);
  const plainly = family?.statuses?.[status] ?? meaningOfStatus(status);
  const aboutRequest = meaningOfStatus(status) === 'rejected';
  const reading = readingOf(status, aboutRequest, wordsOf(error.words), error.codeText);
  const ruled = byRules(reading, status, responseStatus);
  return ruled ?? { meaning: plainly === 'malformed' ? 'server_error' : plainly, words: [] };
}

/** An error may name another status. It is believed where the response itself is a success or a server error. */
export function effectiveStatus(responseStatus: number, named: number | undefined): number {
  const believed = responseStatus < 400 || responseStatus >= 500 || responseStatus === 424;
  return believed && named !== undefined ? named : responseStatus;
}

interface Reading {
  codes: string;
  words: string;
  /** The text is about the request and may repeat parts of it. */
  strictly: boolean;
}

function readingOf(status: number, aboutRequest: boolean, words: WordSets, codes: string): Reading {
  if (aboutRequest) return { codes, words: words.withoutNames, strictly: true };
  return { codes, words: neverRejections.has(status) ? words.all : words.unquoted, strictly: false };
}

function byRules(reading: Reading, status: number, responseStatus: number): Decision | undefined {
  const mayReject = !neverRejections.has(status);
  const refusal = decide(territory, reading) ?? (mayReject ? decide(plainRejection, reading) : undefined);
  if (refusal) return refusal;
  if (isZeroAllowance(reading.words)) return { meaning: 'billing', words: ['limit'] };
  const quotaWords = dailyQuotaWords(reading.codes, reading.words, reading.strictly, status === 429);
  if (quotaWords) return { meaning: 'quota', words: quotaWords };
  // Words alone do not turn a refused access or a missing resource into a rejected request.
  const isMissing = status === 404 || status === 410;
  const wordsReject = mayReject && status !== 403 && !isMissing;
  for (const rule of isMissing ? missingRules : routeRules) {
    const decision = rule.meaning === 'rejected' && !wordsReject ? undefined : decide(rule, reading);
    if (decision) return decision;
  }
  return (
    (wordsReject ? decide(requestWords, reading) : undefined) ??
    (responseStatus >= 500 && responseStatus !== 501 ? decide(serverWords, reading) : undefined)
  );
}

function decide({ meaning, hint, says, codes, loosely }: Rule, reading: Reading): Decision | undefined {
  if (hint && !hint.test(reading.words) && !hint.test(reading.codes)) return undefined;
  if (codes?.test(reading.codes) || says?.test(reading.codes)) return { meaning, words: [] };
  const words = says?.exec(reading.words)?.[0] ?? (reading.strictly ? undefined : loosely?.exec(reading.words)?.[0]);
  return words === undefined ? undefined : { meaning, words: [words] };
}

/** Whether a single word, in any context, means a failure of the route. */
export function decidesAlone(word: string): boolean {
  const reading = { codes: '', words: word, strictly: false };
  return (
    [territory, ...routeRules].some((rule) => effectOf(decide(rule, reading)?.meaning ?? 'rejected') !== 'none') ||
    dailyQuotaWords('', word, false, true) !== undefined
  );
}
