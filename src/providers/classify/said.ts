/** What an upstream said, gathered out of whatever envelope it used: codes apart from words, and nothing that is the caller's. */
import { nestedIn } from './nested.js';
import { codeWords, wordsMax } from './own-words.js';
import { statusOf, statusOfName } from './statuses.js';

export interface Said {
  /** Codes, types and reasons as they were written. */
  codes: readonly string[];
  /** The same as words, each between bars. */
  codeText: string;
  /** What was said to people. */
  words: string;
  /** The status that the error itself names, the innermost where several do. */
  status: number | undefined;
  /** The envelope is one that only this family of providers uses. */
  family: string | undefined;
}

const codeKeys = new Set(
  'code type status reason error_type errortype error_code errorcode __type quotaid quotametric limit_source status_code statuscode originalstatuscode'.split(
    ' ',
  ),
);
/** What these hold is the caller's, the model's, or of no meaning. */
const ignoredKeys = new Set(
  'input loc ctx param params failed_generation flagged_input prompt messages content choices candidates request request_id requestid user_id id headers url href links help doc_url documentation_url instance model stack @type locale domain consumer service resourcename usage usagemetadata quotadimensions quotavalue provider_name remedy_hint previous_errors trace trace_id object'.split(
    ' ',
  ),
);
const depthMax = 12;
const valuesMax = 400;

/** Decides what of an error is the provider's own. */
export interface Ownership {
  /** A text without what it repeats of the request. */
  text(text: string): string;
  /** Empty where a code only repeats a string of the request. */
  code(code: string): string;
  /** Whether a code that stands in a text, and not beside it, is read. */
  readsInner(code: string): boolean;
}

export const allOwn: Ownership = { text: (text) => text, code: (code) => code, readsInner: () => true };

class Gatherer {
  readonly codes: string[] = [];
  words = '';
  status: number | undefined;
  family: string | undefined;
  private values = 0;
  /** Within an error that was found in a text. */
  private inText = false;

  /** `trusting`: nothing in the answer can be an echo of the request, so an error inside a text is another server's. */
  constructor(
    private readonly trusting: boolean,
    private readonly own: Ownership,
  ) {}

  value(value: unknown, key: string, depth: number): void {
    if (++this.values > valuesMax || depth > depthMax) return;
    if (typeof value === 'string') this.text(value, key, depth);
    else if (typeof value === 'number' && codeKeys.has(key)) this.code(String(value), key);
    else if (Array.isArray(value)) for (const item of value) this.value(item, key, depth + 1);
    else if (value !== null && typeof value === 'object') this.object(value as Record<string, unknown>, depth);
  }

  private object(fields: Record<string, unknown>, depth: number): void {
    if ('base_resp' in fields) this.family = 'minimax';
    if (fields.success === false && Array.isArray(fields.errors)) this.family = 'cloudflare';
    for (const name in fields) {
      const key = name.toLowerCase();
      if (key === 'blockreason') this.codes.push('prompt_blocked');
      else if (!ignoredKeys.has(key)) this.value(fields[name], key, depth + 1);
    }
  }

  private text(text: string, key: string, depth: number): void {
    // Some put a sentence where the code belongs.
    if (codeKeys.has(key) && !(text.length > 24 && text.includes(' '))) {
      this.code(text, key);
      return;
    }
    const own = this.own.text(text.slice(0, wordsMax));
    const nested = nestedIn(own);
    this.say(nested?.around ?? own);
    if (!nested || !(this.trusting || nested.announced || key === 'raw')) return;
    const { inText } = this;
    this.inText = true;
    this.value(nested.value, '', depth + 1);
    this.inText = inText;
  }

  code(code: string, key: string): void {
    const own = this.own.code(code.slice(0, 200));
    if (own === '' || (this.inText && !this.own.readsInner(own))) return;
    this.codes.push(own);
    if (key !== 'type') this.status = statusOf(own) ?? this.status;
  }

  /** Proxies name the class of what they caught before they repeat it. */
  private say(text: string): void {
    if (this.words.length < wordsMax) this.words += `${this.words === '' ? '' : '\n'}${text.slice(0, wordsMax)}`;
    const classes = /^(?:\s?(?:[a-z]+\.){0,3}[A-Z]\w{2,60}(?:Error|Exception|Timeout)\b[:\s-]{0,3}){1,4}/.exec(
      text,
    )?.[0];
    for (const name of classes?.match(/[A-Z]\w+/g) ?? []) if (this.own.readsInner(name)) this.codes.push(name);
    const named = /\berror code: (\d{3})\b/i.exec(text.slice(0, 400))?.[1] ?? '';
    if (named !== '' && this.own.readsInner(named)) this.status = statusOf(named) ?? this.status;
  }
}

export interface Source {
  /** The parsed body, or its text. */
  body: unknown;
  /** Codes that came in headers. */
  headerCodes?: readonly string[];
  trusting: boolean;
  own?: Ownership;
}

export function gather({ body, headerCodes = [], trusting, own = allOwn }: Source): Said {
  const gatherer = new Gatherer(trusting, own);
  for (const code of headerCodes) gatherer.code(code, 'type');
  gatherer.value(body, '', 0);
  const { codes, words, family } = gatherer;
  const asWords = codes.map(codeWords);
  return {
    codes,
    codeText: `| ${asWords.join(' | ')} |`,
    words,
    status: gatherer.status ?? asWords.map(statusOfName).find((status) => status !== undefined),
    family,
  };
}
