import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const folder = resolve(import.meta.dirname, '../../docs/decisions');
const read = (name: string) => readFileSync(join(folder, name), 'utf8');

/** The cell of a row for a decision of which a later one has replaced a part. */
const replacedBy = /^in force, but for what \[(\d{4})\]\((\1-[a-z0-9-]+\.md)\) replaced$/;

it('docs/decisions/README.md lists every decision with its number and title, in order, and what has replaced parts of it', () => {
  const files = readdirSync(folder).filter((name) => name !== 'README.md');
  const rows = files.sort().map((name) => {
    const [, number, title] = /^# (\d{4}) (.+)$/m.exec(read(name)) ?? [];
    expect(name).toMatch(new RegExp(`^${number}-[a-z0-9-]+\\.md$`));
    return `| [${number}](${name}) | ${title} |`;
  });
  const listed = [...read('README.md').matchAll(/^(\| \[.*?\) \| .*? \|)(?: (.*) \|)?$/gm)];
  expect(listed.map(([, row]) => row)).toEqual(rows);
  for (const [, row, state = 'in force'] of listed) {
    if (state !== 'in force') expect(files, row).toContain(replacedBy.exec(state)?.[2]);
  }
});
