/**
 * The upstream's own words in a text, for the rules to read: lower case, one kind of apostrophe, and without what may be the
 * caller's (quotations, field paths, echoed prompts), because no word of a caller may hold a route or count against it.
 */

/** An error that needs more than this to say what it means does not say it. */
export const wordsMax = 16 * 1024;

/** An apostrophe opens no quotation. A quotation that is never closed goes on to the end. */
const quotation = /"[^"]{1,4000}(?:"|$)|`[^`]{1,4000}(?:`|$)|(?<![\w)])'[^']{1,4000}'(?!\w)/g;
const address = /\bhttps?:\/\/\S+/g;
/** `Prompt: …`: what follows such a label is what was sent. */
const echo = /\b(?:prompt|inputs?|input text|user message|user input|query|received text)\s?[:=]\s[^\n]*/g;
/** `tools.0.function.queue`, `messages[2].content`, `daily_report`: names in a request are chosen by the caller. */
const fieldPath = /\b\w+(?:\.\w+|\[\d+\])+|\b[a-z0-9]*_\w+/g;

export interface OwnWords {
  /** Nothing in it is a quotation. */
  own: string;
  /** Without names of fields as well: for texts about the request, which are full of them. */
  strictly: string;
  /** With what was quoted: only for statuses under which nobody echoes a request. */
  quoted: string;
}

export function ownWords(text: string): OwnWords {
  const plain = text
    .slice(0, wordsMax)
    .replace(/[\u2018\u2019\u02bc]/g, "'")
    .replace(/[\u201c\u201d]/g, '"')
    .toLowerCase()
    .replace(address, ' ');
  const own = spaced(unwrapped(plain).replace(quotation, ' ').replace(echo, ' '));
  return { own, strictly: spaced(own.replace(fieldPath, ' ')), quoted: spaced(plain.replace(/["'`]/g, ' ')) };
}

/** Codes as words: `rate_limit_exceeded`, `RateLimitExceeded` and `rate-limit-exceeded` say the same. */
export function codeWords(code: string): string {
  return spaced(
    code
      .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
      .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
      .toLowerCase()
      .replace(/[^a-z0-9\u0080-\uffff]/g, ' '),
  );
}

/** A text that is one quotation as a whole is not quoting anybody. */
function unwrapped(text: string): string {
  const whole = /^\s*(["'`])([^"'`]*)\1\s*$/.exec(text);
  return whole ? whole[2]! : text;
}

function spaced(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
