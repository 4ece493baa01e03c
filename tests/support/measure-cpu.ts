/** Appends the processor time of each test file, and of the processes that it started and ended, to the file that LODESTONE_TEST_CPU names. */
import { appendFileSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { afterAll, expect } from 'vitest';

const ticksPerSecond = 100;

/** Of this process, and of its children that have ended, in seconds. Linux only. */
function cpuSeconds(): { own: number; children: number } {
  const text = readFileSync('/proc/self/stat', 'latin1');
  const fields = text
    .slice(text.lastIndexOf(') ') + 2)
    .split(' ')
    .map(Number);
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15);
  return { own: (user + system) / ticksPerSecond, children: (childUser + childSystem) / ticksPerSecond };
}

/** To be called before a test file is loaded, so that its imports count too. */
export function measureCpu(): void {
  const report = process.env.LODESTONE_TEST_CPU;
  if (!report) return;
  const before = cpuSeconds();
  const startedAt = performance.now();
  // Registered first, so it runs last.
  afterAll(() => {
    const after = cpuSeconds();
    const line = {
      file: relative(process.cwd(), expect.getState().testPath ?? ''),
      own: round(after.own - before.own),
      children: round(after.children - before.children),
      wall: round((performance.now() - startedAt) / 1_000),
    };
    appendFileSync(report, `${JSON.stringify(line)}\n`);
  });
}

function round(seconds: number): number {
  return Math.round(seconds * 100) / 100;
}
