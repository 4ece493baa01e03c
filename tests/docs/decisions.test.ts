import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const folder = resolve(import.meta.dirname, '../../docs/decisions');
const read = (name: string) => readFileSync(join(folder, name), 'utf8');

it('docs/decisions/README.md lists every decision with its number and title, in order', () => {
  const files = readdirSync(folder).filter((name) => name !== 'README.md');
  const rows = files.sort().map((name) => {
    const [, number, title] = /^# (\d{4}) (.+)$/m.exec(read(name)) ?? [];
    expect(name).toMatch(new RegExp(`^${number}-[a-z0-9-]+\\.md$`));
    return `| [${number}](${name}) | ${title} |`;
  });
  expect(read('README.md').match(/^\| \[.*$/gm)).toEqual(rows);
});
