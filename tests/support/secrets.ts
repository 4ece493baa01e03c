/**
 * The secrets that a test file uses, and the search for them in what its gateways leave behind: log lines, rows of the database,
 * journals, error answers. The support code registers and searches on its own, so a leak in any test fails that test and the run.
 */
import { appendFileSync } from 'node:fs';
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** A file with a line for each search, read at the end of the run. */
    secretSearches: string;
  }
}

export interface Search {
  /** What was looked at: `logs`, `database`, `journal`, `errors`. */
  what: string;
  /** How many lines, rows, files or answers. */
  count: number;
  leaks: string[];
}

/** Shorter texts are found by chance. */
const lengthMin = 8;
/** What each secret is, by its text. */
const secrets = new Map<string, string>();
/** Prompts may come back in an error: a provider quotes them to the very caller that sent them. They are never kept. */
const prompts = new Map<string, string>();
let errorAnswers = 0;

/** Those of a file are searched for in that file: the next one in this process may be given the port of an upstream that is gone. */
export function forgetSecrets(): void {
  secrets.clear();
  prompts.clear();
}

export function registerSecret(what: string, text: unknown): void {
  if (typeof text === 'string' && text.length >= lengthMin) secrets.set(text, what);
}

/** Variables that hold a credential, by their names. */
export function registerEnvironment(env: Readonly<Record<string, string>> = {}): void {
  for (const [name, value] of Object.entries(env)) {
    if (/KEY|TOKEN|SECRET|PASSWORD/.test(name)) registerSecret(`the variable ${name}`, value);
  }
}

export function registerPrompt(text: string): void {
  prompts.set(text, `the prompt ${JSON.stringify(text)}`);
}

/** What of the registered secrets is in a text, also where bytes are written in hexadecimal or in base64. */
export function secretsIn(text: string, known: ReadonlyMap<string, string> = secrets): string[] {
  const found: string[] = [];
  for (const [secret, what] of known) {
    const isEncoded =
      text.includes(Buffer.from(secret).toString('hex')) || base64Of(secret).some((form) => text.includes(form));
    if (isEncoded || occursIn(text, secret)) found.push(what);
  }
  return found;
}

/** As it may stand in longer bytes: at each of the three offsets, without the characters that it shares with its neighbours. */
function base64Of(secret: string): string[] {
  return [0, 1, 2].map((offset) => {
    const bytes = Buffer.from(' '.repeat(offset) + secret);
    const whole = bytes.subarray(0, bytes.length - (bytes.length % 3)).toString('base64');
    return offset === 0 ? whole : whole.slice(4);
  });
}

/** A port is no part of a longer one. */
function occursIn(text: string, secret: string): boolean {
  for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + 1)) {
    if (!/\d$/.test(secret) || !/\d/.test(text[at + secret.length] ?? '')) return true;
  }
  return false;
}

/** Searches what was kept; throws where a secret is in it. */
export function searchKept(what: string, where: string, texts: readonly string[]): void {
  const text = texts.join('\n');
  note({ what, count: texts.length, leaks: [...secretsIn(text), ...secretsIn(text, prompts)] }, where);
}

/** Searches an answer that is an error; throws where a secret is in it. */
export function searchError(where: string, text: string): void {
  errorAnswers++;
  const leaks = secretsIn(text);
  if (leaks.length > 0) note({ what: 'errors', count: 0, leaks }, where);
}

/** Error answers are counted in one line for all that came since. */
export function noteErrors(): void {
  if (errorAnswers > 0) note({ what: 'errors', count: errorAnswers, leaks: [] }, '');
  errorAnswers = 0;
}

function note(search: Search, where: string): void {
  appendFileSync(inject('secretSearches'), `${JSON.stringify(search)}\n`);
  if (search.leaks.length > 0) throw new Error(`A secret leaked into ${where}: ${search.leaks.join('; ')}`);
}
