/** The tracked text files of the repository, and the prose in them: comments, titles of tests, and the text of pages. */
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface TextFile {
  /** From the root of the checkout, with forward slashes. */
  path: string;
  text: string;
}

export interface Passage {
  /** Where it begins, from 1. */
  line: number;
  text: string;
}

const binary = /\.(?:jpe?g|png|gif|webp|ico|woff2?|mmdb|gz|br|zst)$/;
/** Made by npm, and full of hashes that look like anything. */
const lockFile = /(?:^|\/)package-lock\.json$/;

/** Files that are about to be added are listed too; ignored ones are not. */
export function trackedPaths(): string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], { cwd: root });
  const paths = [...new Set(listed.toString().split('\0'))];
  return paths.filter((path) => path !== '' && statSync(join(root, path), { throwIfNoEntry: false })?.isFile());
}

export function readTextFiles(paths: readonly string[]): TextFile[] {
  return paths
    .filter((path) => !binary.test(path) && !lockFile.test(path))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

const scriptName = /\.(?:ts|tsx|mts|mjs|js|css)$/;

export function isPage({ path }: TextFile): boolean {
  return path.endsWith('.md');
}

/** What people read: the text of a page without its code blocks, or the comments of any other file. */
export function proseOf(file: TextFile): Passage[] {
  if (isPage(file)) return linesOf(withoutCodeBlocks(file.text));
  return scriptName.test(file.path) ? commentsOf(file.text) : hashComments(file.text);
}

function linesOf(text: string): Passage[] {
  return text.split('\n').map((line, index) => ({ line: index + 1, text: line }));
}

/** Blank lines take the place of the code, so that line numbers stay. */
export function withoutCodeBlocks(text: string): string {
  return text.replace(/^( *)```[\s\S]*?^\1```$/gm, (block) => block.replace(/[^\n]/g, ''));
}

function commentsOf(text: string): Passage[] {
  let isInside = false;
  return linesOf(text).flatMap(({ line, text: source }) => {
    const opens = /^\s*\{?\/\*/.test(source);
    const wasInside = isInside || opens;
    isInside = wasInside && !source.includes('*/');
    if (wasInside) return [{ line, text: source }];
    const trailing = /(?:^|\s)(?:\/\/ .*|\/\*.*\*\/)/.exec(source)?.[0];
    return trailing === undefined ? [] : [{ line, text: trailing }];
  });
}

function hashComments(text: string): Passage[] {
  return linesOf(text).flatMap(({ line, text: source }) => {
    const comment = /(?:^|\s)#.*/.exec(source)?.[0];
    return comment === undefined ? [] : [{ line, text: comment }];
  });
}

/** Strings with a blank in a test file: its titles, among others. */
export function titlesOf({ path, text }: TextFile): Passage[] {
  if (!/\.test\.tsx?$/.test(path)) return [];
  return linesOf(text).flatMap(({ line, text: source }) =>
    [...source.matchAll(/'((?:[^'\\]|\\.)*)'|`([^`]*)`|"((?:[^"\\]|\\.)*)"/g)]
      .map((match) => match[1] ?? match[2] ?? match[3] ?? '')
      .filter((title) => title.includes(' '))
      .map((title) => ({ line, text: title })),
  );
}
