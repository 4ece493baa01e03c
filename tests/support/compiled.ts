/** Source files compiled as the build does it, for tests that need a process of their own: the build itself where it is current. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

/** A directory that holds the given sources (paths below `src`, without ending) and what they import. */
export function compiled(...sources: string[]): string {
  const dir = mkdtempSync(join(tmpdir(), 'lodestone-compiled-'));
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'));
  writeFileSync(join(dir, 'package.json'), '{"type":"module"}');
  if (buildIsCurrent()) {
    for (const name of readdirSync(join(root, 'dist'))) symlinkSync(join(root, 'dist', name), join(dir, name));
    return dir;
  }
  const config = {
    extends: join(root, 'tsconfig.build.json'),
    compilerOptions: { rootDir: join(root, 'src'), outDir: dir, typeRoots: [join(root, 'node_modules/@types')] },
    files: sources.map((source) => join(root, 'src', `${source}.ts`)),
    include: [],
  };
  writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify(config));
  const run = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', dir], {
    encoding: 'utf8',
  });
  if (run.status !== 0) throw new Error(`${run.stdout}${run.stderr}`);
  return dir;
}

/** Every source has an output that is younger. */
function buildIsCurrent(): boolean {
  const sources = readdirSync(join(root, 'src'), { recursive: true }).map(String);
  return sources
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .every((path) => changedAt(join('src', path)) <= changedAt(join('dist', path.replace(/\.ts$/, '.js'))));
}

/** 0 for what is not there. */
function changedAt(path: string): number {
  return statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
