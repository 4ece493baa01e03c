/** Source files compiled as the build does it, for tests that need a process of their own. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

/** A directory that holds the given sources (paths below `src`, without ending) and what they import. */
export function compiled(...sources: string[]): string {
  const dir = mkdtempSync(join(tmpdir(), 'lodestone-compiled-'));
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'));
  writeFileSync(join(dir, 'package.json'), '{"type":"module"}');
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
