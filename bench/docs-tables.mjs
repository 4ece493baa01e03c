/** Writes generated text between a pair of markers in a page: `<!-- bench:NAME -->` and `<!-- /bench:NAME -->`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

export function replaceBetweenMarkers(page, name, text) {
  const [from, to] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`];
  const start = page.indexOf(from);
  const end = page.indexOf(to);
  if (start < 0 || end < start) throw new Error(`The page has no pair of markers ${from} … ${to}.`);
  return `${page.slice(0, start + from.length)}\n\n${text}\n\n${page.slice(end)}`;
}

/** `texts` by the name of the marker. */
export function writePage(path, texts) {
  const file = join(root, path);
  let page = readFileSync(file, 'utf8');
  for (const [name, text] of Object.entries(texts)) page = replaceBetweenMarkers(page, name, text);
  writeFileSync(file, page);
  console.log(`Written to ${path}: ${Object.keys(texts).join(', ')}.`);
}

/** Where figures come from, and whether the machine was quiet. */
export function originText(command, entries) {
  const all = Object.values(entries);
  const [days, commits, machines] = [
    all.map(({ at }) => at.slice(0, 10)),
    all.map(({ commit }) => commit),
    all.map(({ node, cpu, cores }) => `${cores} cores (${cpu}), Node ${node.slice(1)}`),
  ].map((list) => [...new Set(list)].sort().join(', '));
  const disturbed = all.reduce((sum, entry) => sum + (entry.disturbed ?? 0), 0);
  const noise =
    disturbed > 0
      ? ` Other programs disturbed ${disturbed} of the measurements: measure anew before you rely on them.`
      : '';
  return `Measured with \`${command}\` on ${days}, commit ${commits}, ${machines}.${noise}`;
}
