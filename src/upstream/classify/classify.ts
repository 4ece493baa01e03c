/**
 * From what an upstream said to what it means: by its codes and words first, because statuses lie, and by its status last
 * (§7.5.1). The order is that of the questions below; the tables hold the words.
 */
import type { Meaning } from '../failure.js';
import { dayIsSpent, nothingAllowed } from './day.js';
import { type Family, meaningOfCode } from './families.js';
import { type OwnWords, ownWords } from './own-words.js';
import { plainRejection, requestWords, serverWords } from './request-rules.js';
import { place, routeRules } from './route-rules.js';
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

export function classify({ status: worn, said, family }: Refusal): Meaning {
  const coded = meaningOfCode(family, said.codes);
  if (coded) return coded;
  const status = statusMeant(worn, said.status);
  const plainly = family?.statuses?.[status] ?? meaningOfStatus(status);
  const aboutRequest = meaningOfStatus(status) === 'rejected';
  const reading = readingOf(status, aboutRequest, ownWords(said.words), said.codeText);
  return byRules(reading, status, worn) ?? (plainly === 'malformed' ? 'server_error' : plainly);
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

function byRules(reading: Reading, status: number, worn: number): Meaning | undefined {
  const mayReject = !neverRejections.has(status);
  if (told(place, reading)) return place.meaning;
  if (mayReject && told(plainRejection, reading)) return plainRejection.meaning;
  if (nothingAllowed(reading.words)) return 'billing';
  if (dayIsSpent(reading.codes, reading.words, reading.strictly, status === 429)) return 'quota';
  const ofRoute = routeRules.find((rule) => told(rule, reading));
  if (ofRoute) return ofRoute.meaning;
  // A refusal of access or of a place is not turned into a rejection by mere words.
  if (status !== 403 && status !== 404 && status !== 410 && mayReject && told(requestWords, reading)) return 'rejected';
  return worn >= 500 && worn !== 501 && told(serverWords, reading) ? serverWords.meaning : undefined;
}

function told({ says, codes, loosely }: Rule, reading: Reading): boolean {
  return (
    (codes?.test(reading.codes) ?? false) ||
    (says !== undefined && (says.test(reading.words) || says.test(reading.codes))) ||
    (!reading.strictly && (loosely?.test(reading.words) ?? false))
  );
}
