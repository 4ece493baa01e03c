/** Collects the codes and the words of an upstream's error, in whatever shape it came, without the parts that are the client's. */
import { nestedErrorIn } from './nested-error.js';
import { statusOf, statusOfName } from './statuses.js';
import { codeWords, wordsMax } from './words.js';

export interface ErrorText {
  /** Codes, types and reasons as the upstream wrote them. */
  codes: readonly string[];
  /** The codes as words, separated by bars. */
  codeText: string;
  /** The text for people. */
  words: string;
  /** The status that the error itself names; the innermost where there are several. */
  status: number | undefined;
  /** The family of providers, where only one uses this shape. */
  family: string | undefined;
}

const codeKeys = new Set(
  'code type status reason error_type errortype error_code errorcode __type quotaid quotametric limit_source status_code statuscode originalstatuscode'.split(
    ' ',
  ),
);
/** The values of these are the client's or the model's, or carry no meaning. */
const ignoredKeys = new Set(
  'input loc ctx param params failed_generation flagged_input prompt messages content choices candidates request request_id requestid user_id id headers url href links help doc_url documentation_url instance model stack @type locale domain consumer service resourcename usage usagemetadata quotadimensions quotavalue provider_name remedy_hint previous_errors trace trace_id object'.split(
    ' ',
  ),
);
const depthMax = 12;
const valuesMax = 400;

/** Decides which parts of an error are the provider's own. */
export interface EchoFilter {
  /** A text without the parts that repeat the request. */
  text(text: string): string;
  /** Empty where the code only repeats a string of the request. */
  code(code: string): string;
  /** Whether a code inside a text is read. */
  readsNested(code: string): boolean;
}

export const keepsEverything: EchoFilter = { text: (text) => text, code: (code) => code, readsNested: () => true };

class Collector {
  readonly codes: string[] = [];
  words = '';
  status: number | undefined;
  family: string | undefined;
  private values = 0;
  /** Inside an error that was found in a text. */
  private inText = false;

  /** `trusting`: the text cannot repeat the request, so an error inside it is another server's. */
  constructor(
    private readonly trusting: boolean,
    private readonly filter: EchoFilter,
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
    // Some providers write a sentence where the code belongs.
    if (codeKeys.has(key) && !(text.length > 24 && text.includes(' '))) {
      this.code(text, key);
      return;
    }
    const own = this.filter.text(text.slice(0, wordsMax));
    const nested = nestedErrorIn(own);
    this.addWords(nested?.around ?? own);
    if (!nested || !(this.trusting || nested.announced || key === 'raw')) return;
    const { inText } = this;
    this.inText = true;
    this.value(nested.value, '', depth + 1);
    this.inText = inText;
  }

  code(code: string, key: string): void {
    const own = this.filter.code(code.slice(0, 200));
    if (own === '' || (this.inText && !this.filter.readsNested(own))) return;
    this.codes.push(own);
    if (key !== 'type') this.status = statusOf(own) ?? this.status;
  }

  /** Proxies write the class of an exception before its message. */
  private addWords(text: string): void {
    if (this.words.length < wordsMax) this.words += `${this.words === '' ? '' : '\n'}${text.slice(0, wordsMax)}`;
    const classes = /^(?:\s?(?:[a-z]+\.){0,3}[A-Z]\w{2,60}(?:Error|Exception|Timeout)\b[:\s-]{0,3}){1,4}/.exec(
      text,
    )?.[0];
    for (const name of classes?.match(/[A-Z]\w+/g) ?? []) if (this.filter.readsNested(name)) this.codes.push(name);
    const named = /\berror code: (\d{3})\b/i.exec(text.slice(0, 400))?.[1] ?? '';
    if (named !== '' && this.filter.readsNested(named)) this.status = statusOf(named) ?? this.status;
  }
}

interface ErrorSource {
  /** The parsed body, or its text. */
  body: unknown;
  /** Codes from headers. */
  headerCodes?: readonly string[];
  trusting: boolean;
  filter?: EchoFilter;
}

export function collectErrorText({
  body,
  headerCodes = [],
  trusting,
  filter = keepsEverything,
}: ErrorSource): ErrorText {
  const collector = new Collector(trusting, filter);
  for (const code of headerCodes) collector.code(code, 'type');
  collector.value(body, '', 0);
  const { codes, words, family } = collector;
  const asWords = codes.map(codeWords);
  return {
    codes,
    codeText: `| ${asWords.join(' | ')} |`,
    words,
    status: collector.status ?? asWords.map(statusOfName).find((status) => status !== undefined),
    family,
  };
}
