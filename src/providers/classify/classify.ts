/**
 * From what an upstream said to what it means: by its codes and words first, because statuses lie, and by its status last.
 * The order is that of the questions below; the tables hold the words.
 */

import { nothingAllowed, spentDay } from './day.js';
import { effectOf, type Meaning } from './failure.js';
import { type Family, meaningOfCode } from './families.js';
import { type OwnWords, ownWords } from './own-words.js';
import { plainRejection, requestWords, serverWords } from './request-rules.js';
import { routeRules, territory } from './route-rules.js';
import type { Rule } from './rule.js';
import type { Said } from './said.js';
import { meaningOfStatus } from './statuses.js';

export interface Refusal {
  /** Of the response; of a 2xx that holds an error, 200. */
  status: number;
  said: Said;
  family: Family | undefined;
}

/** Under these nobody rejects a request, so what is said is about us, and nothing of it is an echo. */
const neverRejections = new Set([401, 402, 407, 408, 429]);

/** What a failure means, and which words of its text say so; none where its status or a code does. */
export interface Decision {
  readonly meaning: Meaning;
  readonly words: readonly string[];
}

export function classify({ status: worn, said, family }: Refusal): Decision {
  const coded = meaningOfCode(family, said.codes);
  if (coded) return { meaning: coded, words: [] };
  const status = statusMeant(worn, said.status);
  const plainly = family?.statuses?.[status] ?? meaningOfStatus(status);
  const aboutRequest = meaningOfStatus(status) === 'rejected';
  const reading = readingOf(status, aboutRequest, ownWords(said.words), said.codeText);
  const ruled = byRules(reading, status, worn);
  return ruled ?? { meaning: plainly === 'malformed' ? 'server_error' : plainly, words: [] };
}

/** An error may name the status that it means: believed where the response wears none of its own, or only a server's. */
export function statusMeant(worn: number, named: number | undefined): number {
  const believed = worn < 400 || worn >= 500 || worn === 424;
  return believed && named !== undefined ? named : worn;
}

interface Reading {
  codes: string;
  words: string;
  /** The text is about a request and may repeat parts of it. */
  strictly: boolean;
}

function readingOf(status: number, aboutRequest: boolean, words: OwnWords, codes: string): Reading {
  if (aboutRequest) return { codes, words: words.strictly, strictly: true };
  return { codes, words: neverRejections.has(status) ? words.quoted : words.own, strictly: false };
}

function byRules(reading: Reading, status: number, worn: number): Decision | undefined {
  const mayReject = !neverRejections.has(status);
  const refusal = decide(territory, reading) ?? (mayReject ? decide(plainRejection, reading) : undefined);
  if (refusal) return refusal;
  if (nothingAllowed(reading.words)) return { meaning: 'billing', words: ['limit'] };
  const day = spentDay(reading.codes, reading.words, reading.strictly, status === 429);
  if (day) return { meaning: 'quota', words: day };
  // A refusal of access or of a place is not turned into a rejection by mere words.
  const wordsReject = mayReject && status !== 403 && status !== 404 && status !== 410;
  for (const rule of routeRules) {
    const decision = rule.meaning === 'rejected' && !wordsReject ? undefined : decide(rule, reading);
    if (decision) return decision;
  }
  return (
    (wordsReject ? decide(requestWords, reading) : undefined) ??
    (worn >= 500 && worn !== 501 ? decide(serverWords, reading) : undefined)
  );
}

function decide({ meaning, hint, says, codes, loosely }: Rule, reading: Reading): Decision | undefined {
  if (hint && !hint.test(reading.words) && !hint.test(reading.codes)) return undefined;
  if (codes?.test(reading.codes) || says?.test(reading.codes)) return { meaning, words: [] };
  const words = says?.exec(reading.words)?.[0] ?? (reading.strictly ? undefined : loosely?.exec(reading.words)?.[0]);
  return words === undefined ? undefined : { meaning, words: [words] };
}

/** Whether a word alone, wherever it stands, means a failure of the route. */
export function decidesAlone(word: string): boolean {
  const reading = { codes: '', words: word, strictly: false };
  return (
    [territory, ...routeRules].some((rule) => effectOf(decide(rule, reading)?.meaning ?? 'rejected') !== 'none') ||
    spentDay('', word, false, true) !== undefined
  );
}
