/**
 * Prepares the text of an error for the rules: lower case, one kind of apostrophe, and without parts that may be the client's
 * (quotations, field paths, echoed prompts), because no word of a client may hold a route or count against it.
 */

/** Only this much of an error's text is read. */
export const wordsMax = 16 * 1024;

/** An apostrophe does not open a quotation. An unclosed quotation extends to the end. */
const quotation = /"[^"]{1,4000}(?:"|$)|`[^`]{1,4000}(?:`|$)|(?<![\w)])'[^']{1,4000}'(?!\w)/g;
const address = /\bhttps?:\/\/\S+/g;
/** `Prompt: …`: the request follows such a label. */
const echo = /\b(?:prompt|inputs?|input text|user message|user input|query|received text)\s?[:=]\s[^\n]*/g;
/** `tools.0.function.queue`, `messages[2].content`, `daily_report`: the client chooses such names. */
const fieldPath = /\b\w+(?:\.\w+|\[\d+\])+|\b[a-z0-9]*_\w+/g;

export interface WordSets {
  /** Without quotations. */
  unquoted: string;
  /** Without quotations and field names: for texts about the request, which are full of them. */
  withoutNames: string;
  /** With quotations: only for statuses whose text never repeats a request. */
  all: string;
}

export function wordsOf(text: string): WordSets {
  const plain = text
    .slice(0, wordsMax)
    .replace(/[\u2018\u2019\u02bc]/g, "'")
    .replace(/[\u201c\u201d]/g, '"')
    .toLowerCase()
    .replace(address, ' ');
  const unquoted = collapseSpaces(unwrap(plain).replace(quotation, ' ').replace(echo, ' '));
  return {
    unquoted,
    withoutNames: collapseSpaces(unquoted.replace(fieldPath, ' ')),
    all: collapseSpaces(plain.replace(/["'`]/g, ' ')),
  };
}

/** Codes as words: `rate_limit_exceeded`, `RateLimitExceeded` and `rate-limit-exceeded` become the same. */
export function codeWords(code: string): string {
  return collapseSpaces(
    code
      .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
      .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
      .toLowerCase()
      .replace(/[^a-z0-9\u0080-\uffff]/g, ' '),
  );
}

/** A text that consists of one quotation is read as the provider's own words. */
function unwrap(text: string): string {
  const whole = /^\s*(["'`])([^"'`]*)\1\s*$/.exec(text);
  return whole ? whole[2]! : text;
}

function collapseSpaces(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
