/**
 * Writes the values of the built-in catalogue's YAML files as JSON beside the compiled loader, so that a start need not parse
 * them. What is checked at a start is checked there all the same.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const output = join('dist', 'catalogue', 'builtin.json');

/** The paths that it made, from the root of the checkout. A file with a fault in its YAML is left for the start to explain. */
export async function compileCatalogue(root) {
  const { parseDocument } = await import('yaml');
  const { builtinFiles, digestOf } = await import(pathToFileURL(join(root, 'dist', 'catalogue', 'builtin.js')).href);
  const compiled = {};
  for (const { name, url } of builtinFiles) {
    const text = readFileSync(url, 'utf8');
    const document = parseDocument(text);
    if (document.errors.length + document.warnings.length > 0) continue;
    compiled[name] = { digest: digestOf(text), value: document.toJS() };
  }
  writeFileSync(join(root, output), JSON.stringify(compiled));
  return [output];
}
