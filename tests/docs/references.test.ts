import { describe, expect, it } from 'vitest';
import { pages } from '../../scripts/docs/pages.mjs';
import {
  anchorOf,
  brokenReferences,
  headingsOf,
  outsideCitations,
  Repository,
  reportOf,
  unfitHeadings,
} from '../support/references.js';
import { readTextFiles, type TextFile, trackedPaths } from '../support/repository-text.js';

const paths = trackedPaths();
const files = readTextFiles(paths);
const repository = new Repository(paths, files);
const rules = files.filter(({ path }) => /^docs\/behaviour\/.*\.md$/.test(path));

describe('the repository', () => {
  it('has files to look at', () => expect(files.length).toBeGreaterThan(500));

  it('cites no document outside of it', () => expect(reportOf(files.flatMap(outsideCitations))).toBe(''));

  it('has every file and heading that a comment or a page refers to', () =>
    expect(reportOf(files.flatMap((file) => brokenReferences(file, repository)))).toBe(''));
});

describe('docs/behaviour', () => {
  it('has headings with one anchor, the same on GitHub and on the documentation site', () => {
    expect(rules.length).toBeGreaterThan(10);
    expect(reportOf(rules.flatMap(unfitHeadings))).toBe('');
  });

  it('is part of the documentation site, page by page', () => {
    const listed = pages.map(({ file }) => `docs/${file}`).filter((path) => path.startsWith('docs/behaviour/'));
    expect(listed.sort()).toEqual(rules.map(({ path }) => path).sort());
  });
});

/** Written in two halves, or this file would cite what it looks for. */
const sign = '\u00a7';
const cited = (start: string, end: string) => `${start}${end}`;
const script = (text: string): TextFile => ({ path: 'src/base/x.ts', text });

describe('a citation of an outside document is found', () => {
  it.each([
    ['a section sign', `// Stops the walk (${sign}7.5.2).`],
    ['a section sign and a blank', `/** As ${sign} 8 has it. */`],
    ['a numbered ruling', cited('/** Billed nothing (rul', 'ing 8). */')],
    ['several rulings', cited('// See Rul', 'ings 3 to 7.')],
    ['a clause of a contract', cited('/** The list (contr', 'act 4.2). */')],
    ['a citation over two lines', cited('/**\n * Exact in one process (archi', 'tecture\n * 3).\n */')],
    ['a contract by name', cited('// In the contr', "act's order.")],
    ['a specification by name', cited('/** Part of the specifi', 'cation. */')],
    ['a numbered part', cited('/** The budgets of par', 't 8. */')],
    ['a numbered check', cited('// The limit comes first (chec', 'k 2).')],
    ['a case', cited('// One probe at a time, as in the failure ca', 'ses.')],
    ['the code of a case in a comment', cited('// One probe at a time (F', '11).')],
    ['a code with a suffix', cited('/** Answered before it is read (D', '13i). */')],
    ['a section of a wire reference', cited('/** Blank text is refused (wi', 're 5). */')],
    ['an issue', cited('/** Rows of the webhook (iss', 'ue 7). */')],
  ])('%s', (_, text) => expect(outsideCitations(script(text))).toHaveLength(1));

  it('in the title of a test, in a page, and in a file of settings', () => {
    expect(
      outsideCitations({ path: 'tests/a.test.ts', text: cited("it('E", "14 ten requests are answered', () => {});") }),
    ).toEqual([{ path: 'tests/a.test.ts', line: 1, found: 'E14' }]);
    const page = `Text.\n\nHeld until midnight (${sign}3.2).\n`;
    expect(outsideCitations({ path: 'docs/a.md', text: page })).toEqual([
      { path: 'docs/a.md', line: 3, found: `${sign}3.2` },
    ]);
    expect(outsideCitations({ path: 'a.yaml', text: `workers: 2 # ${cited('contr', 'act 2')}` })).toHaveLength(1);
  });

  it('in a section of a standard, unless the file has its address', () => {
    const comment = `/** Refused (RFC 9112 ${sign}6.3 and ${sign}11.2). */`;
    expect(outsideCitations(script(comment))).toHaveLength(2);
    expect(outsideCitations(script(`// https://www.rfc-editor.org/rfc/rfc9112\n${comment}`))).toEqual([]);
    expect(outsideCitations(script(`// https://www.rfc-editor.org/rfc/rfc9110\n${comment}`))).toHaveLength(2);
  });
});

describe('ordinary text is no citation', () => {
  it.each([
    ['a time format', "/** An RFC 3339 time. */ const text = 'must be an RFC 3339 time';"],
    ['a code in code', "const territories = ['A1', 'T1']; // `A1` is no country"],
    ['words without numbers', '/** Checks the parts of a contract in their wire form. */'],
    ['a key and a size', '/** At most 32 MiB, UTF-8, HTTP/1.1, o200k, sk-lr-, 2001:db8::A1. */'],
    ['a reference into the repository', '/** See docs/decisions/0005 and docs/behaviour/money.md#cost. */'],
    ['a number of checks', '/** 40 checks, and 12 parts. */'],
  ])('%s', (_, text) => expect(outsideCitations(script(text))).toEqual([]));
});

describe('a reference', () => {
  const someFiles = [
    { path: 'docs/behaviour/money.md', text: '# Money\n\n## Hang up on a stream\n\nText.\n' },
    { path: 'docs/decisions/0005-upstream-connections.md', text: '# 0005\n' },
    { path: 'src/errors/table-caller.ts', text: '' },
    { path: 'tests/docs/errors.test.ts', text: '' },
  ];
  const known = new Repository(
    someFiles.map(({ path }) => path),
    someFiles,
  );
  const brokenIn = (path: string, text: string) => brokenReferences({ path, text }, known).map(({ found }) => found);

  it.each([
    '// docs/behaviour/money.md#hang-up-on-a-stream says what is billed.',
    '/** Decided in docs/decisions/0005. */',
    '// A close while idle is noticed (0005).',
    '// The rows are in src/errors/table-*.ts, a test in tests/docs/errors.test.ts.',
    '// A row in src/errors/<table>.ts, or src/errors/{table-caller,table-payments}.ts.',
    '// The folder src/errors/.',
  ])('that resolves is no fault: %s', (text) => expect(brokenIn('src/base/x.ts', text)).toEqual([]));

  it.each([
    ['// docs/behaviour/money.md#no-such-rule', 'docs/behaviour/money.md#no-such-rule'],
    ['// docs/behaviour/mony.md#hang-up-on-a-stream', 'docs/behaviour/mony.md#hang-up-on-a-stream'],
    ['/** Decided in docs/decisions/0023. */', 'docs/decisions/0023'],
    ['// Looked for again (0023), as decided.', '0023'],
    ['/**\n * See src/errors/gone.ts.\n */', 'src/errors/gone.ts'],
    ['// All of src/error/*.ts.', 'src/error/*.ts'],
    [cited('const a = 1; /', '/ from tests/docs/gone.test.ts'), 'tests/docs/gone.test.ts'],
  ])('that leads nowhere is found: %s', (text, found) => expect(brokenIn('src/base/x.ts', text)).toEqual([found]));

  it('of a page is followed from where the page is, to its headings too', () => {
    const links =
      '[a](../behaviour/money.md#hang-up-on-a-stream) [b](#own) [c](https://example.com/x.md) [d](gone.md) [e](../behaviour/money.md#gone)';
    expect(brokenIn('docs/guide/x.md', `# X\n\n${links}\n`)).toEqual(['#own', 'gone.md', '../behaviour/money.md#gone']);
  });

  it('in code is not a reference', () => {
    expect(brokenIn('src/base/x.ts', "import { a } from 'src/gone.js';")).toEqual([]);
    expect(brokenIn('docs/guide/x.md', '```sh\ncat src/gone.ts\n```\n')).toEqual([]);
  });
});

describe('a heading', () => {
  it('has the anchor that GitHub gives it', () => {
    expect(anchorOf('What `auto/` does, and why')).toBe('what-auto-does-and-why');
    expect(headingsOf({ path: 'a.md', text: '# A\n\n```sh\n# not one\n```\n\n## B b\n' })).toEqual(['A', 'B b']);
  });

  it('of a rule is refused where its anchor is not the same everywhere, or not the only one', () => {
    const page = (text: string) => unfitHeadings({ path: 'docs/behaviour/x.md', text }).map(({ found }) => found);
    expect(page('# Walk, breakers\n\n## Hang up\n\n## What `auto/` does\n\n## Hang up\n')).toEqual([
      'What `auto/` does',
      'Hang up',
    ]);
    expect(page('# X\n\n## Cross-origin requests\n')).toEqual([]);
  });
});

it('findings are reported with their place, counted by folder', () => {
  const finding = (path: string) => ({ path, line: 3, found: 'x' });
  expect(reportOf([])).toBe('');
  expect(reportOf([finding('src/a.ts'), finding('src/b.ts'), finding('README.md')], 2)).toBe(
    '3 (src: 2, README.md: 1)\nsrc/a.ts:3: x\nsrc/b.ts:3: x',
  );
});
