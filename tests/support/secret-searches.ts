/** The searches for secrets of a whole run: collected in a file by all suites, and summed up after the last. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Search } from './secrets.js';

export function createSearchesFile(): string {
  const file = join(mkdtempSync(join(tmpdir(), 'lodestone-secrets-')), 'searches.jsonl');
  writeFileSync(file, '');
  return file;
}

/** One line for the end of the run, and every leak, also one whose failure a test swallowed. Removes the file. */
export function takeSearches(file: string): { summary: string; leaks: string[] } {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  rmSync(dirname(file), { recursive: true, force: true });
  const searches = lines.map((line) => JSON.parse(line) as Search);
  const sum = (what: string) => searches.reduce((all, search) => all + (search.what === what ? search.count : 0), 0);
  const gateways = searches.filter(({ what }) => what === 'journal').length;
  const leaks = searches.flatMap(({ what, leaks: found }) => found.map((leak) => `${leak} in the ${what}`));
  const looked = `${sum('logs')} log lines, ${sum('database')} rows and ${sum('errors')} error answers of ${gateways} gateways`;
  return { summary: `Secrets: ${looked} searched, ${leaks.length} leaks.`, leaks };
}
