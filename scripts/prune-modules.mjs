/**
 * Removes from node_modules every package that the running gateway does not need; the container image is built with it. Says
 * what is left. Not for a checkout that is worked in: `npm ci` brings the rest back.
 */
import { existsSync, lstatSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { productionPackages } from './production-packages.mjs';

/** The places that stayed. `root` holds package-lock.json and node_modules. */
export function pruneModules(root) {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const needed = productionPackages(lock);
  for (const folder of foldersIn(root, 'node_modules')) {
    if (!needed.has(folder)) rmSync(join(root, folder), { recursive: true, force: true });
  }
  const missing = [...needed].filter(([place, { optional }]) => !optional && !existsSync(join(root, place)));
  if (missing.length > 0)
    throw new Error(`Not installed: ${missing.map(([place]) => place).join(', ')}. Run "npm ci".`);
  return [...needed.keys()].filter((place) => existsSync(join(root, place)));
}

/** Every package, those inside others first; npm's own files (.bin, .package-lock.json) count as packages that nobody needs. */
function foldersIn(root, modules) {
  if (!existsSync(join(root, modules))) return [];
  return readdirSync(join(root, modules)).flatMap((name) => {
    const place = `${modules}/${name}`;
    if (!name.startsWith('@')) return [...nested(root, place), place];
    const scoped = readdirSync(join(root, place)).map((inner) => `${place}/${inner}`);
    return scoped.flatMap((inner) => [...nested(root, inner), inner]);
  });
}

/** A link is a workspace: what is behind it is not ours to remove. */
function nested(root, place) {
  return lstatSync(join(root, place)).isSymbolicLink() ? [] : foldersIn(root, `${place}/node_modules`);
}

function removeEmptyScopes(root) {
  for (const name of readdirSync(join(root, 'node_modules'))) {
    const folder = join(root, 'node_modules', name);
    if (name.startsWith('@') && readdirSync(folder).length === 0) rmdirSync(folder);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const kept = pruneModules(root);
  removeEmptyScopes(root);
  console.log(`${kept.length} packages are left in node_modules.`);
}
