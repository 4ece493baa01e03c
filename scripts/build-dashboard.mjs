/**
 * Builds the dashboard if one of its sources has changed, and compresses the output once, so that the gateway never has to.
 * `dashboard/dist/.built` exists only if all of it is current.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { extname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { run } from './run-process.mjs';

const compressible = new Set(['.html', '.js', '.css', '.svg', '.json', '.webmanifest', '.txt']);
const worthBytes = 1024;

/** True where it is current now. */
export async function buildDashboard(root) {
  const folder = join(root, 'dashboard');
  const stampFile = join(folder, 'dist', '.built');
  const fingerprint = fingerprintOf(root, folder);
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === fingerprint) return true;
  const startedAt = performance.now();
  console.log('Building the dashboard.');
  // Vite empties the folder first, the stamp too.
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  const args = [vite, 'build', '--logLevel', 'warn'];
  const code = await run(process.execPath, args, { cwd: folder, heartbeat: 'Still building the dashboard' });
  if (code !== 0) return false;
  await compressAll(join(folder, 'dist'));
  writeFileSync(stampFile, fingerprint);
  console.log(`The dashboard was built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);
  return true;
}

/** Changes with the name, size or time of any file that the build reads; a removed one changes it too. */
function fingerprintOf(root, folder) {
  const hash = createHash('sha256');
  for (const path of [join(root, 'package-lock.json'), ...sourcesIn(folder)]) {
    const { size, mtimeMs } = statSync(path);
    hash.update(`${relative(root, path)}\0${size}\0${mtimeMs}\n`);
  }
  return hash.digest('hex');
}

function sourcesIn(folder) {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(
    ({ name }) => name !== 'dist' && name !== 'node_modules',
  );
  return entries
    .flatMap((entry) => (entry.isDirectory() ? filesIn(join(folder, entry.name)) : [join(folder, entry.name)]))
    .sort();
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

async function compressAll(folder) {
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
  const files = filesIn(folder).filter((path) => compressible.has(extname(path)) && statSync(path).size >= worthBytes);
  await Promise.all(
    files.map(async (path) => {
      const bytes = await readFile(path);
      await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes, quality));
      await writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }));
    }),
  );
}
