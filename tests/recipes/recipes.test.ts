/** Applies every recipe of CONTRIBUTING.md to one scratch copy of the checkout, then compiles it, writes its pages and runs the suites concerned. */
import { spawn } from 'node:child_process';
import {
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Checkout, recipes, recipeTable } from './recipes.js';

const root = resolve(import.meta.dirname, '../..');
const scratch = mkdtempSync(join(tmpdir(), 'lodestone-recipes-'));
const program = (name: string) => join(root, 'node_modules', name);
const minutes = 60_000;
/** Compiling and testing the copy takes most of a minute of processor time, so `npm run test:long` does it. */
const whole = { timeout: 10 * minutes, skip: process.env.LODESTONE_RECIPES !== '1' };

/** The suites that notice a recipe which needs more than its files. */
const suites = [
  'src/config/**/*.test.ts',
  'src/errors/*.test.ts',
  'src/policy/**/*.test.ts',
  'src/providers/dialects/example/*.test.ts',
  'tests/architecture.test.ts',
  'tests/api/openapi/paths.test.ts',
  'tests/catalogue/{configured,consistency,guide}.test.ts',
  'tests/docs/{configuration,errors,gates}.test.ts',
  'tests/observability/names.test.ts',
];

/** Every folder and file of the checkout that the suites read. Links cost no copying; where they are not possible, files are copied. */
const parts = ['src', 'tests', 'scripts', 'catalogue', 'docs', 'dashboard', 'ops', 'bench'];
const left = new Set(['node_modules', 'dist']);

function linkTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (left.has(entry.name)) continue;
    if (entry.isDirectory()) linkTree(source, target);
    else linkOrCopy(source, target);
  }
}

function linkOrCopy(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch {
    copyFileSync(source, target);
  }
}

/** Runs a program in the scratch copy; its output where it fails. */
function run(args: readonly string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((done) => {
    const child = spawn(process.execPath, args, { cwd: scratch, env: { ...process.env, VITEST: '', NO_COLOR: '1' } });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += bytes));
    child.once('close', (code) => done({ code, output }));
  });
}

async function succeed(...args: string[]): Promise<void> {
  const { code, output } = await run(args);
  expect(code, `${args.join(' ')}\n${output.slice(-4_000)}`).toBe(0);
}

beforeAll(() => {
  for (const part of parts) linkTree(join(root, part), join(scratch, part));
  for (const name of ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'README.md', 'CONTRIBUTING.md'])
    copyFileSync(join(root, name), join(scratch, name));
  symlinkSync(join(root, 'node_modules'), join(scratch, 'node_modules'));
  symlinkSync(join(root, 'dashboard/node_modules'), join(scratch, 'dashboard/node_modules'));
});

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe('a recipe of CONTRIBUTING.md', () => {
  it('is in its table, with the files that it touches', () => {
    expect(readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')).toContain(recipeTable);
  });

  it.each(recipes)('touches what the table says: $adding', ({ apply, touches }) => {
    const checkout = new Checkout(scratch);
    apply(checkout);
    const patterns = touches.map((path) => new RegExp(`^${path.replaceAll('.', '\\.').replace(/<\w+>/g, '[\\w-]+')}`));
    for (const pattern of patterns) expect([...checkout.touched].some((path) => pattern.test(path))).toBe(true);
    // A new folder counts once, however many files it has.
    const folders = patterns.filter((_, i) => touches[i]!.endsWith('/'));
    const parts = [...checkout.touched].map((path) => folders.find((folder) => folder.test(path)) ?? path);
    expect(new Set(parts).size, [...checkout.touched].join(', ')).toBe(touches.length);
  });

  it('compiles with all the others, in the gateway and in the dashboard', whole, async () => {
    await succeed(program('typescript/bin/tsc'), '-p', 'tsconfig.build.json');
    await succeed(program('typescript/bin/tsc'), '-p', 'dashboard/tsconfig.json');
  });

  it('is in the pages that "npm run docs" writes, and every page can be rendered', whole, async () => {
    const { scripts } = JSON.parse(readFileSync(join(scratch, 'package.json'), 'utf8')) as {
      scripts: { docs: string };
    };
    const writers = [...scripts.docs.matchAll(/node (scripts\/[\w-]+-page\.mjs)/g)].map(([, file]) => file!);
    expect(writers.length).toBeGreaterThanOrEqual(5);
    const checkout = new Checkout(scratch);
    // The pages are links to the real ones, which must not be written.
    const guide = readdirSync(join(scratch, 'docs/guide')).map((name) => `docs/guide/${name}`);
    for (const path of [...guide, 'docs/behaviour/policy.md']) checkout.write(path, checkout.read(path));
    for (const writer of writers) await succeed(writer);
    const page = (name: string) => checkout.read(`docs/guide/${name}.md`);
    expect(page('errors')).toContain('example_refused');
    expect(page('gates')).toContain('`max_grid`');
    expect(checkout.read('docs/behaviour/policy.md')).toContain('`max_grid`');
    expect(page('metrics')).toContain('`lodestone_examples_total`');
    expect(page('configuration')).toContain('| `limits.example_wait` | `1m30s` | How long an example waits. |');
    expect(page('providers')).toContain('| `example-provider` | `EXAMPLE_PROVIDER_API_KEY` | `global` | US |');
    writeFileSync(
      join(scratch, 'render.mjs'),
      `import { readFileSync } from 'node:fs';
import { renderMarkdown } from './scripts/docs/markdown.mjs';
import { pages } from './scripts/docs/pages.mjs';
for (const { file } of pages) renderMarkdown(readFileSync('docs/' + file, 'utf8'), file);
if (!pages.some(({ file }) => file === 'guide/example.md')) throw new Error('The new page is not listed.');
`,
    );
    await succeed('render.mjs');
  });

  it('passes the suites concerned', whole, async () => {
    const test = {
      include: suites,
      pool: 'forks',
      maxWorkers: 1,
      isolate: false,
      testTimeout: minutes,
      watch: false,
    };
    writeFileSync(join(scratch, 'recipes.config.mjs'), `export default ${JSON.stringify({ test })};\n`);
    await succeed(program('vitest/vitest.mjs'), 'run', '--config', 'recipes.config.mjs');
  });
});
