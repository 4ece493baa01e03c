/**
 * Reads what a failed call says, in the light of what was asked: strings of the request that the error repeats are taken out
 * first, and words that the request has too may decide the answer but never what happens to the route.
 */

import { classify, type Decision, decidesAlone, statusMeant } from './classify.js';
import { Echoes, type Leaf } from './echoes.js';
import { effectOf, type Meaning } from './failure.js';
import { familyOf } from './families.js';
import { codeWords } from './own-words.js';
import { allOwn, gather, type Ownership, type Said } from './said.js';
import { nothingSent, SentStrings, type SentTexts } from './sent-strings.js';
import { squeeze } from './squeezed.js';
import { meaningOfStatus } from './statuses.js';

/** What a failed call showed, as plain data. */
export interface Evidence {
  /** Of the response; of a 2xx that holds an error, 200. */
  readonly status: number;
  /** The parsed body, or its text. */
  readonly body: unknown;
  readonly headerCodes: readonly string[];
  readonly providerId: string;
  readonly baseUrl: string;
}

export interface Verdict {
  readonly meaning: Meaning;
  /** A word that decides is also in the request: nothing is counted, nothing is held. */
  readonly disputed: boolean;
}

/** Each round takes out the words that decided the one before. */
const roundsMax = 8;

export function readFailure(evidence: Evidence, sent: SentTexts = nothingSent): Verdict {
  if (sent.texts.length === 0) return { meaning: decide(evidence, saidIn(evidence, allOwn)).meaning, disputed: false };
  const strings = new SentStrings(sent);
  const echoes = new Echoes(leavesOf(evidence), strings, decidesAlone);
  const own: Ownership = {
    text: (text) => echoes.without(text),
    code: (code) => (echoes.without(code).trim() === '' ? '' : code),
    readsInner: () => true,
  };
  const { meaning } = decide(evidence, saidIn(evidence, own));
  const disputed = effectOf(meaning) !== 'none' && (echoes.exhausted || isDisputed(evidence, own, strings, meaning));
  return { meaning, disputed };
}

/** Whether the failure would do something else to the route without the words that the request has too. */
function isDisputed(evidence: Evidence, own: Ownership, strings: SentStrings, meaning: Meaning): boolean {
  const isShared = (word: string) => strings.has(squeeze(word));
  const readsInner = (code: string) => !decidingWords(codeWords(code)).every(isShared);
  let said = saidIn(evidence, { ...own, readsInner });
  for (let round = 0; round < roundsMax; round++) {
    const decision = decide(evidence, said);
    if (effectOf(decision.meaning) !== effectOf(meaning)) return true;
    const shared = decision.words.flatMap(decidingWords).filter(isShared);
    if (shared.length === 0) return false;
    let words = said.words.toLowerCase();
    for (const word of shared) words = words.replaceAll(word, ' ');
    said = { ...said, words };
  }
  return true;
}

/** In a rejection a text may repeat the request, so that an error inside it is not taken for the provider's. */
function saidIn({ status, body, headerCodes }: Evidence, own: Ownership): Said {
  const warily = gather({ body, headerCodes, trusting: false, own });
  const isRejection = meaningOfStatus(statusMeant(status, warily.status)) === 'rejected';
  return isRejection ? warily : gather({ body, headerCodes, trusting: true, own });
}

function decide({ status, providerId, baseUrl }: Evidence, said: Said): Decision {
  return classify({ status, said, family: familyOf(said.family, providerId, baseUrl) });
}

/** Every text and code that would be read. */
function leavesOf({ body, headerCodes }: Evidence): Leaf[] {
  const leaves: Leaf[] = [];
  const noted = (text: string, isCode: boolean) => {
    leaves.push({ text, isCode });
    return text;
  };
  const own = { ...allOwn, text: (text: string) => noted(text, false), code: (code: string) => noted(code, true) };
  gather({ body, headerCodes, trusting: true, own });
  return leaves;
}

/** Words that every text has decide nothing. */
const functionWords = new Set(
  'the a an is are was were be been being has have had do does did not no of in on at to for from with by as and or but if it its this that these those you your we our i me my he she they them their there here can could will would should may might must please too many more most very any all one'.split(
    ' ',
  ),
);

/** The words of a phrase that carry its meaning. Chinese and Japanese have no spaces: there each two characters are one. */
function decidingWords(phrase: string): string[] {
  const words = phrase.toLowerCase().match(/[\u3040-\u9fff]+|[^\P{L}\u3040-\u9fff]+|\p{N}+/gu) ?? [];
  return words.flatMap((word) => {
    if (!/[\u3040-\u9fff]/.test(word)) return word.length > 1 && !functionWords.has(word) ? [word] : [];
    return word.length <= 2 ? [word] : Array.from({ length: word.length - 1 }, (_, i) => word.slice(i, i + 2));
  });
}
