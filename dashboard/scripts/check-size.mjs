/** Fails the build when the JavaScript of a first load, gzipped, is over 200 KB, or when charts or map are in it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const limitBytes = 200_000;
const dist = join(fileURLToPath(import.meta.url), '..', '..', 'dist');
const manifest = JSON.parse(readFileSync(join(dist, '.vite', 'manifest.json'), 'utf8'));

/** A chunk and everything that it imports statically: what the browser must have before it can run it. */
function withImports(name, seen = new Set()) {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const imported of manifest[name].imports ?? []) withImports(imported, seen);
  return seen;
}

const gzipped = (name) => gzipSync(readFileSync(join(dist, manifest[name].file))).length;
const sum = (names) => [...names].reduce((total, name) => total + gzipped(name), 0);

const entry = Object.keys(manifest).find((name) => manifest[name].isEntry);
const first = withImports(entry);
// The heaviest first load is the shell together with the heaviest page.
const pages = Object.keys(manifest).filter((name) => /^src\/pages\/.*-page\.tsx$/.test(name));
const loads = pages.map((name) => ({ name, bytes: sum(withImports(name, new Set(first))) }));
const heaviest = loads.sort((a, b) => b.bytes - a.bytes)[0] ?? { name: entry, bytes: sum(first) };

const apart = ['src/components/chart/plot.tsx', 'src/pages/overview/world-map.tsx'];
const misplaced = apart.filter((name) => !manifest[name]?.isDynamicEntry || first.has(name));
if (misplaced.length > 0) {
  console.error(`Not in a chunk of its own: ${misplaced.join(', ')}.`);
  process.exit(1);
}

const kb = (bytes) => `${(bytes / 1000).toFixed(1)} KB`;
console.log(`First load: shell ${kb(sum(first))}, heaviest page ${heaviest.name} ${kb(heaviest.bytes)} gzipped.`);
if (heaviest.bytes > limitBytes) {
  console.error(`The first load of ${heaviest.name} is over ${kb(limitBytes)} of gzipped JavaScript.`);
  process.exit(1);
}
