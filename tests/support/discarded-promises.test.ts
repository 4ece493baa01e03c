import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { discardedPromises } from './discarded-promises.js';

it('no promise of the gateway that may reject is left to nobody: its rejection would stop the process', () => {
  expect(discardedPromises(resolve('tsconfig.build.json'), (path) => path.startsWith('src/'))).toEqual([]);
});

it('a discarded promise is found in every form, and one that cannot reject is let pass', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lodestone-promises-'));
  const options = { strict: true, noEmit: true, target: 'es2023', types: [] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include: ['*.ts'] }));
  writeFileSync(join(folder, 'sample.ts'), sample);
  const found = discardedPromises(join(folder, 'tsconfig.json'), (path) => path === 'sample.ts');
  rmSync(folder, { recursive: true });
  const lines = sample.split('\n');
  const expected = lines.flatMap((line, i) => (line.endsWith('// found') ? [i + 1] : []));
  expect(found.map((each) => Number(/:(\d+) /.exec(each)?.[1]))).toEqual(expected);
});

const sample = `
declare function read(): Promise<string>;
declare function every(ms: number, tick: () => void): void;
declare function handle(run: () => void | Promise<void>): void;
interface Link {
  /** Never rejects. */
  run(): Promise<void>;
  ask(): Promise<void>;
}
async function caught(): Promise<void> {
  try {
    await read();
  } catch {
    await patient();
  }
}
async function rethrown(): Promise<void> {
  try {
    await read();
  } catch (error) {
    throw error;
  }
}
async function unguarded(): Promise<void> {
  try {
    await caught();
  } finally {
    await read();
  }
}
const patient = (): Promise<void> => new Promise((resolve) => every(1, resolve));
const impatient = (): Promise<void> => new Promise((_, reject) => every(1, () => reject()));
class Worker {
  private safe: Promise<void> | null = null;
  private unsafe: Promise<unknown> = Promise.resolve();
  begin(link: Link, isOpen: boolean): void {
    this.safe ??= caught().finally(() => {});
    this.unsafe = read();
    void this.safe;
    void this.safe?.then(() => every(1, () => {}));
    void this.unsafe; // found
    void link.run();
    void link.ask(); // found
    read(); // found
    void read(); // found
    read().then(() => {}); // found
    read().finally(() => {}); // found
    read().catch(() => {});
    read().catch((error) => { throw error; }); // found
    read().then(() => {}, () => {});
    read().then(() => read(), () => {}); // found
    isOpen && read(); // found
    isOpen ? caught() : rethrown(); // found
    void caught();
    void unguarded(); // found
    void patient();
    void impatient(); // found
    every(1, () => read()); // found
    every(1, () => caught());
    every(1, async () => void (await caught()));
    every(1, async () => { await read(); }); // found
    handle(async () => { await rethrown(); });
    void Promise.all([caught(), patient()]);
    void Promise.all([caught(), read()]); // found
    void Promise.allSettled([read()]);
  }
}
export { Worker };
`;
