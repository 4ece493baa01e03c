/**
 * Finds what a reader of the repository alone cannot follow: citations of documents outside of it, and references to files and
 * headings that it does not have. Pure functions over texts, so that the test can also prove that they find something.
 */
import { posix } from 'node:path';
import { isPage, type Passage, proseOf, type TextFile, titlesOf, withoutCodeBlocks } from './repository-text.js';

export interface Finding {
  path: string;
  line: number;
  found: string;
}

/** Between two words of a comment there may be a line break and the sign that begins its next line. */
const gap = '[\\s*/#>]+';

const phrases: readonly RegExp[] = [
  /§\s?\d[\d.]*/g,
  new RegExp(`\\brulings?${gap}\\d+`, 'gi'),
  new RegExp(`\\bcontract${gap}\\d[\\d.]*`, 'gi'),
  new RegExp(`\\b(?:the|our)${gap}(?:contract|specification)\\b`, 'gi'),
  new RegExp(`\\bfailure${gap}cases?\\b`, 'gi'),
  new RegExp(`\\barchitecture${gap}\\d`, 'gi'),
  new RegExp(`\\bspecification${gap}\\d`, 'gi'),
  new RegExp(`\\b(?:clause|wire|issue)${gap}#?\\d`, 'gi'),
];

/** These are ordinary words in code and data, so only prose is searched for them. */
const prosePhrases: readonly RegExp[] = [/\bparts? [1-9]\b/gi, /\bchecks? \d+/gi];

/** A letter and a number, the way lists of cases are numbered. */
const caseCode = /(?<![\w#./:`'"–-])(?:[A-H]\d{1,2}i?|R\d{1,2})(?![\w./%-])/g;

/** A section of a public standard, which is allowed where the same file has the address of the standard. */
const standardSection = /\bRFC (\d{3,5})(?:,? (?:and )?§[\d.]+\d)+/g;

export function outsideCitations(file: TextFile): Finding[] {
  const text = withoutAddressedStandards(file.text);
  const found = phrases.flatMap((phrase) =>
    [...text.matchAll(phrase)].map((match) => ({ line: lineAt(text, match.index), found: match[0] })),
  );
  const prose = [...proseOf({ ...file, text }).map(withoutCode), ...titlesOf({ ...file, text })];
  for (const pattern of [...prosePhrases, caseCode]) found.push(...matchesIn(prose, pattern));
  return found.map(({ line, found }) => ({ path: file.path, line, found: found.replace(/\s+/g, ' ') }));
}

function withoutAddressedStandards(text: string): string {
  return text.replace(standardSection, (section, number: string) =>
    text.includes(`rfc-editor.org/rfc/rfc${number}`) ? section.replaceAll('§', ' ') : section,
  );
}

/** Code inside of a sentence is not a citation. */
function withoutCode({ line, text }: Passage): Passage {
  return { line, text: text.replace(/`[^`]*`/g, '``') };
}

function matchesIn(passages: readonly Passage[], pattern: RegExp): { line: number; found: string }[] {
  return passages.flatMap(({ line, text }) => [...text.matchAll(pattern)].map(([found]) => ({ line, found })));
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

/** The paths of all files and folders, and the headings of the pages among them. */
export class Repository {
  private readonly paths: ReadonlySet<string>;
  private readonly pages: ReadonlyMap<string, TextFile>;
  private readonly folders = new Set<string>();
  private readonly anchors = new Map<string, ReadonlySet<string>>();

  constructor(paths: readonly string[], files: readonly TextFile[]) {
    this.paths = new Set(paths);
    this.pages = new Map(files.filter(isPage).map((file) => [file.path, file]));
    for (const path of paths) {
      for (let folder = posix.dirname(path); folder !== '.'; folder = posix.dirname(folder)) this.folders.add(folder);
    }
  }

  /** `path` may end in `/`, be a decision's number, or hold `*`, `<name>`, `{a,b}` and `…` in the place of anything. */
  has(path: string): boolean {
    const plain = path.replace(/\/$/, '');
    if (this.paths.has(plain) || this.folders.has(plain)) return true;
    const pattern = /^docs\/decisions\/\d{4}$/.test(plain) ? `${plain}-*.md` : plain;
    if (!/[*<{…]/.test(pattern)) return false;
    const form = new RegExp(
      `^${pattern
        .split(/\*+|<[^>]*>|\{[^}]*\}|…/)
        .map(literally)
        .join('.*')}$`,
    );
    return [...this.paths, ...this.folders].some((known) => form.test(known));
  }

  hasAnchor(page: string, anchor: string): boolean {
    const file = this.pages.get(page);
    if (!file) return false;
    const known = this.anchors.get(page) ?? new Set(headingsOf(file).map(anchorOf));
    this.anchors.set(page, known);
    return known.has(anchor);
  }
}

function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

export function headingsOf({ text }: TextFile): string[] {
  return [...withoutCodeBlocks(text).matchAll(/^#{1,6} (.+)$/gm)].map((match) => match[1]!);
}

/** As GitHub makes it. */
export function anchorOf(heading: string): string {
  const text = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

const pathInText =
  /(?<![\w/.@$-])((?:docs|src|tests|scripts|bench|dashboard\/(?:src|public|scripts)|catalogue|deploy|ops)\/(?:<[\w -]+>|\{[\w ,.-]+\}|[\w@.*…/-])*)(#[\w-]+)?/g;
/** A decision, or a migration, by its number alone. */
const bareNumber = /(?<![\w./\\:+-])00\d\d(?![\w./:-])/g;
/** Made by a run, so it is in no checkout. */
const made = /^(?:bench\/out|dashboard\/dist)\b/;

/** References of comments and pages that lead nowhere. */
export function brokenReferences(file: TextFile, repository: Repository): Finding[] {
  const broken: Finding[] = [];
  const check = (line: number, path: string, anchor: string | undefined, found: string) => {
    const isThere = path === '' || made.test(path) || repository.has(path);
    const isAnchored = anchor === undefined || repository.hasAnchor(path === '' ? file.path : path, anchor);
    if (!isThere || !isAnchored) broken.push({ path: file.path, line, found });
  };
  for (const { line, text } of proseOf(file)) {
    const links = isPage(file) ? [...text.matchAll(/\]\(([^)\s]+)\)/g)] : [];
    for (const [, target = ''] of links) {
      if (/^(?:[a-z]+:|\/)/.test(target)) continue;
      const [path = '', anchor] = target.split('#');
      check(line, path === '' ? '' : posix.join(posix.dirname(file.path), path), anchor, target);
    }
    const withoutLinks = isPage(file) ? text.replace(/\]\([^)\s]+\)/g, ']') : text;
    for (const [, path = '', anchor] of withoutLinks.matchAll(pathInText)) {
      const plain = path.replace(/[.…]+$/, '');
      check(line, plain, anchor?.slice(1), `${plain}${anchor ?? ''}`);
    }
    for (const [number] of withoutCode({ line, text: withoutLinks }).text.matchAll(bareNumber)) {
      if (!repository.has(`docs/decisions/${number}`))
        check(line, `src/storage/migrations/${number}-*`, undefined, number);
    }
  }
  return broken;
}

/** Headings whose anchor would not be the same everywhere, or would not be the only one of its page. */
export function unfitHeadings(file: TextFile): Finding[] {
  const seen = new Set<string>();
  return headingsOf(file).flatMap((heading, index) => {
    const isFit = index === 0 || /^[A-Za-z0-9]+(?:[ -][A-Za-z0-9]+)*$/.test(heading);
    const isNew = !seen.has(anchorOf(heading));
    seen.add(anchorOf(heading));
    return isFit && isNew ? [] : [{ path: file.path, line: 0, found: heading }];
  });
}

/** How many there are by folder, and the first of them; empty where there are none. */
export function reportOf(findings: readonly Finding[], shownMax = 40): string {
  if (findings.length === 0) return '';
  const counts = new Map<string, number>();
  for (const { path } of findings) {
    const folder = path.includes('/') ? path.split('/', 1)[0]! : path;
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  const byFolder = [...counts].map(([folder, count]) => `${folder}: ${count}`).join(', ');
  const shown = findings.slice(0, shownMax).map(({ path, line, found }) => `${path}:${line}: ${found}`);
  return [`${findings.length} (${byFolder})`, ...shown].join('\n');
}
