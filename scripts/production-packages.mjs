/**
 * Which packages of the lock file a part of the product really needs: what its dependencies reach, found the way Node finds them.
 * npm's own `--omit=dev` is no such list: it installs the test runner, because a library names it as an optional peer
 * (docs/decisions/0021-shipping.md).
 */

/** Packages by their place (`node_modules/pg`), reached from the entry of the lock at `from`: '' = the gateway, or a workspace. */
export function productionPackages(lock, from = '') {
  const reached = new Map();
  const waiting = [{ place: from, optional: false }];
  for (let parent = waiting.pop(); parent; parent = waiting.pop()) {
    for (const need of needsOf(lock, parent.place)) {
      const { place } = need;
      const optional = need.optional || parent.optional;
      // Needed by one and optional to another is needed.
      if (reached.has(place) && (optional || !reached.get(place).optional)) continue;
      reached.set(place, { name: nameOf(place), entry: lock.packages[place], optional });
      waiting.push({ place, optional });
    }
  }
  return reached;
}

/** Where the packages are that the one at `place` needs. One that is optional may be absent. */
export function needsOf({ packages }, place) {
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {}, peerDependenciesMeta } = packages[place];
  const peers = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta?.[name]?.optional);
  const needed = new Map([...Object.keys(dependencies), ...peers].map((name) => [name, false]));
  for (const name of Object.keys(optionalDependencies)) needed.set(name, true);
  return [...needed].flatMap(([name, optional]) => {
    const found = placeOf(packages, place, name);
    if (found === undefined && !optional) throw new Error(`package-lock.json has no ${name}, which ${place} needs`);
    return found === undefined ? [] : [{ place: found, optional }];
  });
}

/** The nearest one on the way up, as Node looks for it. */
function placeOf(packages, from, name) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const place = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (place in packages) return place;
    if (folder === '') return undefined;
  }
}

export function nameOf(place) {
  return place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
}
