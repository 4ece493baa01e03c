/**
 * Writes the OpenAPI document beside the module that makes it, so that no process of the gateway spends a third of a second on it while
 * its clients wait.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const folder = join('dist', 'http', 'openapi');

/** The paths that it made, from the root of the checkout. */
export async function compileOpenApi(root) {
  const { openApiDocument } = await import(pathToFileURL(join(root, folder, 'document.js')).href);
  const output = join(folder, 'document.json');
  writeFileSync(join(root, output), JSON.stringify(openApiDocument));
  return [output];
}
