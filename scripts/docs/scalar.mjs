/**
 * The script of the API reference, so that nothing is loaded from anywhere else. It is a string in a module of Scalar's plugin for
 * Fastify. The module is read and not run: what else it imports demands Node 22 (docs/decisions/0013-docs-site.md).
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';

const declaration = /^var standalone_default = (".*");$/m;

export async function scalarBundle() {
  const module = await readFile(fileURLToPath(import.meta.resolve('@scalar/fastify-api-reference')), 'utf8');
  const literal = declaration.exec(module)?.[1];
  if (!literal) throw new Error('the package of the API reference has no script where it had one');
  return Buffer.from(runInNewContext(literal));
}
