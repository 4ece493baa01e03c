import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import config from '../vitest.config.js';
import {
  cycles,
  dashboardFaults,
  importFaults,
  importsOf,
  lengthFaults,
  nameFaults,
  readSources,
  repetitionFaults,
  type SourceFile,
  scanFaults,
  stageFaults,
  waitFaults,
} from './support/import-table.js';
import { measuredTime, repeatMeasured } from './support/measured-time.js';

const sources = readSources();
const file = (path: string, ...imports: string[]): SourceFile => ({
  path,
  text: imports.map((specifier) => `import { a } from '${specifier}';\n`).join(''),
});

describe('the architecture', () => {
  it('has sources to look at', () => {
    expect(sources.filter(({ path }) => path.startsWith('src/')).length).toBeGreaterThan(10);
  });

  it('imports only in the direction of the table', () => expect(importFaults(sources)).toEqual([]));
  it('has no cycle of imports, types included', () => expect(cycles(sources)).toEqual([]));
  it('keeps stages apart', () => expect(stageFaults(sources)).toEqual([]));
  it('keeps the dashboard apart from the gateway', () => expect(dashboardFaults(sources)).toEqual([]));
  it('keeps files under 300 lines', () => expect(lengthFaults(sources)).toEqual([]));
  it('gives files names that say something, in kebab-case', () => expect(nameFaults(sources)).toEqual([]));
  it('repeats a test only where a measured time failed it, and in a browser', () => {
    expect(repetitionFaults(sources)).toEqual([]);
    const projects = (config.test?.projects ?? []) as { test: { name: string; retry: unknown } }[];
    const repeated = projects.filter(({ test }) => !isDeepStrictEqual(test.retry, repeatMeasured(2)));
    expect(repeated.map(({ test }) => test.name)).toEqual(['browser']);
  });
  it('names a time where it waits by vi.waitFor', () => expect(waitFaults(sources)).toEqual([]));
  it('lists its registries instead of scanning folders', () => expect(scanFaults(sources)).toEqual([]));
});

describe('the rules themselves', () => {
  it('refuse a test that is repeated after any failure, and know the failure of a measured time', () => {
    const test = (text: string) => repetitionFaults([{ path: 'tests/faults/a.test.ts', text }]);
    expect(test("it('x', { retry: 3 }, async () => {")).toHaveLength(1);
    expect(test("describe('x', { timeout: 1, retry }, () => {")).toHaveLength(1);
    expect(test("it('x', { retry: repeatMeasured(3) }, async () => {")).toEqual([]);
    expect(test("sse(['retry: 10\\n\\n'])")).toEqual([]);
    const { condition } = repeatMeasured(1);
    expect(() => expect(2, measuredTime).toBeLessThan(1)).toThrow(condition);
    expect(() => expect(2).toBeLessThan(1)).not.toThrow(condition);
  });

  it('refuse a wait that ends after a second by default', () => {
    const test = (text: string) => waitFaults([{ path: 'src/a.test.ts', text }]);
    expect(test('await vi.waitFor(() => expect(f(a, b)).toBe(1));')).toEqual(['src/a.test.ts:1']);
    expect(test('x;\nvi.waitUntil(\n  () => [a, b],\n);')).toEqual(['src/a.test.ts:2']);
    expect(test('await vi.waitFor(() => expect(f(a, b)).toBe(1), waitMs);')).toEqual([]);
    expect(test('vi.waitFor(async () => {\n  f(a);\n}, { timeout: 60_000 });')).toEqual([]);
  });

  it('see every form of import', () => {
    const text = [
      "import a from './a.js';",
      "import type { B } from './b.js';",
      "import {\n  c,\n  d,\n} from './c.js';",
      "import './d.js';",
      "export * from './e.js';",
      "const f = await import('./f.js');",
      "type G = typeof import('./g.js');",
      "import { h } from 'undici';",
    ].join('\n');
    const found = importsOf({ path: 'src/base/x.ts', text });
    expect(found).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => `src/base/${name}.ts`));
  });

  it.each([
    ['src/base/x.ts', '../errors/table.js'],
    ['src/storage/x.ts', '../accounts/keys.js'],
    ['src/errors/x.ts', '../storage/store.js'],
    ['src/providers/dialects/openai/request.ts', '../../call.js'],
    ['src/providers/dialects/openai/request.ts', '../../../errors/table.js'],
    ['src/providers/dialects/openai/request.ts', '../../../catalogue/route.js'],
    ['src/pipeline/rank.ts', '../providers/call.js'],
    ['src/billing/x.ts', '../accounts/x.js'],
    ['src/accounts/x.ts', '../pipeline/handover.js'],
    ['src/http/x.ts', '../app/compose.js'],
    ['src/pipeline/walk/x.ts', '../../http/server/server.js'],
    ['src/cli/x.ts', '../storage/store.js'],
    ['src/base/x.ts', '../../tests/support/sse.js'],
    ['src/elsewhere/x.ts', '../base/clock.js'],
  ])('refuse that %s imports %s', (path, specifier) => {
    expect(importFaults([file(path, specifier)])).not.toEqual([]);
  });

  it.each([
    ['src/pipeline/walk/x.ts', '../../providers/call.js'],
    ['src/pipeline/respond.ts', '../providers/transport/frames.js'],
    ['src/pipeline/rank.ts', './handover.js'],
    ['src/providers/call.ts', './dialects/registry.js'],
    ['src/providers/dialects/anthropic/stream.ts', '../../../wire/chunk.js'],
    ['src/providers/dialects/anthropic/stream.ts', '../openai/stream.js'],
    ['src/storage/x.ts', '../catalogue/route.js'],
    ['src/app/compose.ts', '../http/server/server.js'],
    ['src/base/x.test.ts', '../storage/store.js'],
  ])('allow that %s imports %s', (path, specifier) => {
    expect(importFaults([file(path, specifier)])).toEqual([]);
  });

  it('refuse a stage that imports a stage, and let pipeline.ts', () => {
    expect(stageFaults([file('src/pipeline/rank.ts', './gate.js')])).toHaveLength(1);
    expect(stageFaults([file('src/pipeline/walk/next.ts', '../respond/stream.js')])).toHaveLength(1);
    expect(stageFaults([file('src/pipeline/walk/next.ts', './order.js', '../handover.js')])).toEqual([]);
    expect(stageFaults([file('src/pipeline/pipeline.ts', './gate.js', './rank.js')])).toEqual([]);
    expect(stageFaults([file('src/pipeline/ports.ts', './validate.js')])).toHaveLength(1);
    const typeOnly = "import type { Validator } from './validate.js';";
    expect(stageFaults([{ path: 'src/pipeline/ports.ts', text: typeOnly }])).toEqual([]);
  });

  it('find a cycle, also of types and over several files', () => {
    const typeOnly = { path: 'src/base/c.ts', text: "import type { A } from './a.js';\n" };
    const found = cycles([file('src/base/a.ts', './b.js'), file('src/base/b.ts', './c.js'), typeOnly]);
    expect(found).toEqual([['src/base/a.ts', 'src/base/b.ts', 'src/base/c.ts']]);
    expect(cycles([file('src/base/a.ts', './b.js'), file('src/base/b.ts', './c.js'), file('src/base/c.ts')])).toEqual(
      [],
    );
    const components = ['dashboard/src/a.tsx', 'dashboard/src/b.tsx'] as const;
    expect(cycles([file(components[0], './b.js'), file(components[1], './a.js')])).toEqual([[...components]]);
  });

  it('refuse a dashboard that imports the gateway, long files, empty names and scans', () => {
    expect(dashboardFaults([file('dashboard/src/pages/keys/page.tsx', '../../../../src/base/money.js')])).toHaveLength(
      1,
    );
    expect(lengthFaults([{ path: 'src/a.ts', text: 'x\n'.repeat(300) }])).toHaveLength(1);
    expect(lengthFaults([{ path: 'src/a.ts', text: 'x\n'.repeat(299) }])).toEqual([]);
    expect(nameFaults([file('src/http/utils.ts'), file('src/helpers/x.ts'), file('src/wire/Chunk.ts')])).toHaveLength(
      3,
    );
    expect(scanFaults([{ path: 'src/policy/gates/index.ts', text: 'readdirSync(folder)' }])).toHaveLength(1);
  });
});
