/**
 * Reads the error of a failed call together with the request. Strings of the request that the error repeats are removed first.
 * Words that are also in the request may decide the client's error, but never the state of the route.
 */
import { classify, type Decision, decidesAlone, effectiveStatus } from './classify.js';
import { Echoes, type Leaf } from './echoes.js';
import { collectErrorText, type EchoFilter, type ErrorText, keepsEverything } from './error-text.js';
import { effectOf, type Meaning } from './failure.js';
import { familyOf } from './families.js';
import { normalizedWord } from './normalized-text.js';
import { nothingSent, SentStrings, type SentTexts } from './sent-strings.js';
import { meaningOfStatus } from './statuses.js';
import { codeWords } from './words.js';

/** The error of a failed call, as plain data. */
export interface Evidence {
  /** The status of the response; 200 for any 2xx that holds an error. */
  readonly status: number;
  /** The parsed body, or its text. */
  readonly body: unknown;
  readonly headerCodes: readonly string[];
  readonly providerId: string;
  readonly baseUrl: string;
}

export interface Verdict {
  readonly meaning: Meaning;
  /** A deciding word is also in the request: the failure does not count against the route. */
  readonly disputed: boolean;
}

/** Each round removes the words that decided the previous one. */
const roundsMax = 8;

export function readFailure(evidence: Evidence, sent: SentTexts = nothingSent): Verdict {
  if (sent.texts.length === 0)
    return { meaning: decide(evidence, errorTextOf(evidence, keepsEverything)).meaning, disputed: false };
  const strings = new SentStrings(sent);
  const echoes = new Echoes(leavesOf(evidence), strings, decidesAlone);
  const nested = new Set<string>();
  const filter: EchoFilter = {
    text: (text) => echoes.without(text),
    code: (code) => (echoes.without(code).trim() === '' ? '' : code),
    readsNested: (code) => {
      nested.add(code);
      return true;
    },
  };
  const error = errorTextOf(evidence, filter);
  const decision = decide(evidence, error);
  const { meaning } = decision;
  const disputed =
    effectOf(meaning) !== 'none' &&
    (echoes.exhausted || isDisputed(evidence, { filter, nested, error, decision }, strings));
  return { meaning, disputed };
}

/** What was read of a failure without the parts that repeat the request. */
interface Reading {
  readonly filter: EchoFilter;
  /** The codes inside texts, which were all read. */
  readonly nested: ReadonlySet<string>;
  readonly error: ErrorText;
  readonly decision: Decision;
}

/** Whether the failure would do something else to the route without the words that are also in the request. */
function isDisputed(evidence: Evidence, { filter, nested, ...first }: Reading, strings: SentStrings): boolean {
  const isShared = (word: string) => strings.has(normalizedWord(word));
  const readsNested = (code: string) => !decidingWords(codeWords(code)).every(isShared);
  const isSame = [...nested].every(readsNested);
  let error = isSame ? first.error : errorTextOf(evidence, { ...filter, readsNested });
  for (let round = 0; round < roundsMax; round++) {
    const decision = round === 0 && isSame ? first.decision : decide(evidence, error);
    if (effectOf(decision.meaning) !== effectOf(first.decision.meaning)) return true;
    const shared = decision.words.flatMap(decidingWords).filter(isShared);
    if (shared.length === 0) return false;
    let words = error.words.toLowerCase();
    for (const word of shared) words = words.replaceAll(word, ' ');
    error = { ...error, words };
  }
  return true;
}

/** A rejection may repeat the request, so an error inside its text is not trusted to be the provider's. */
function errorTextOf({ status, body, headerCodes }: Evidence, filter: EchoFilter): ErrorText {
  const untrusted = collectErrorText({ body, headerCodes, trusting: false, filter });
  const isRejection = meaningOfStatus(effectiveStatus(status, untrusted.status)) === 'rejected';
  return isRejection ? untrusted : collectErrorText({ body, headerCodes, trusting: true, filter });
}

function decide({ status, providerId, baseUrl }: Evidence, error: ErrorText): Decision {
  return classify({ status, error, family: familyOf(error.family, providerId, baseUrl) });
}

/** Every text and code of the error. */
function leavesOf({ body, headerCodes }: Evidence): Leaf[] {
  const leaves: Leaf[] = [];
  const record = (text: string, isCode: boolean) => {
    leaves.push({ text, isCode });
    return text;
  };
  const filter = {
    ...keepsEverything,
    text: (text: string) => record(text, false),
    code: (code: string) => record(code, true),
  };
  collectErrorText({ body, headerCodes, trusting: true, filter });
  return leaves;
}

/** Words that occur in every text decide nothing. */
const functionWords = new Set(
  'the a an is are was were be been being has have had do does did not no of in on at to for from with by as and or but if it its this that these those you your we our i me my he she they them their there here can could will would should may might must please too many more most very any all one'.split(
    ' ',
  ),
);

/** The words of a phrase that carry its meaning. Chinese and Japanese have no spaces, so each pair of characters is a word. */
function decidingWords(phrase: string): string[] {
  const words = phrase.toLowerCase().match(/[\u3040-\u9fff]+|[^\P{L}\u3040-\u9fff]+|\p{N}+/gu) ?? [];
  return words.flatMap((word) => {
    if (!/[\u3040-\u9fff]/.test(word)) return word.length > 1 && !functionWords.has(word) ? [word] : [];
    return word.length <= 2 ? [word] : Array.from({ length: word.length - 1 }, (_, i) => word.slice(i, i + 2));
  });
}
