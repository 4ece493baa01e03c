/**
 * Makes a checkout ready to run with nothing but Node and npm: installs what the lock file says and is not there, compiles
 * what is stale. When nothing is stale it costs a few milliseconds: two JSON files are compared, source files are only stat'ed.
 */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildDashboard } from './build-dashboard.mjs';
import { run } from './run-process.mjs';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const oldestNode = [20, 19];
const buildScripts = ['bundle', 'compile-catalogue', 'compile-openapi', 'compile-vocabulary'].map(
  (name) => `scripts/${name}.mjs`,
);
const stampFile = join(root, 'dist', '.built');

/** A step that failed; its message is all that the user needs to see. */
export class PrepareError extends Error {}

/** Without `checkTypes` the build only compiles: for a caller that checks the types itself. */
export async function prepare({ checkTypes = true } = {}) {
  checkNode();
  if (installIsStale()) await install();
  const fingerprint = sourceFingerprint();
  const dashboard = buildDashboard(root);
  if (readText(stampFile) !== fingerprint) await build(fingerprint, checkTypes);
  if (!(await dashboard)) throw new PrepareError('The dashboard cannot be built; the reason is above.');
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])) return;
  throw new PrepareError(
    `Lodestone needs Node ${oldestNode.join('.')} or newer; this is Node ${process.versions.node}. Install a newer one from https://nodejs.org and run the command again.`,
  );
}

/**
 * npm writes node_modules/.package-lock.json as the last act of an install, so an interrupted one leaves none. Packages
 * of other platforms are optional and may be absent.
 */
export function installIsStale(
  lockText = readText(join(root, 'package-lock.json')),
  installedText = readText(join(root, 'node_modules', '.package-lock.json')),
) {
  if (!installedText) return true;
  const wanted = JSON.parse(lockText).packages;
  const installed = JSON.parse(installedText).packages;
  return Object.entries(wanted).some(([path, entry]) => {
    if (!path.startsWith('node_modules/') || entry.link) return false;
    const found = installed[path];
    return found ? found.version !== entry.version : !entry.optional && !entry.devOptional && !entry.peer;
  });
}

async function install() {
  console.log('Installing dependencies from package-lock.json. This happens once and takes about a minute.');
  // No package needs its install script.
  const args = ['ci', '--include=dev', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
  const npm = process.env.npm_execpath;
  const throughNode = npm !== undefined && /\.c?js$/.test(npm);
  const code = throughNode
    ? await run(process.execPath, [npm, ...args], { cwd: root, heartbeat: 'Still installing' })
    : await run('npm', args, { cwd: root, heartbeat: 'Still installing' });
  if (code !== 0)
    throw new PrepareError(`Installing failed: "npm ${args.join(' ')}" ended with ${code}. Its output is above.`);
}

/** Changes with the name, size or time of any file that the build reads; a removed source changes it too. */
function sourceFingerprint() {
  const hash = createHash('sha256');
  const read = [...sources(), ...docsSources(), ...filesUnder('catalogue')];
  const made = ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json', ...buildScripts];
  for (const path of [...made, ...read]) {
    const { size, mtimeMs } = statSync(join(root, path));
    hash.update(`${path}\0${size}\0${mtimeMs}\n`);
  }
  return hash.digest('hex');
}

function sources() {
  return filesUnder('src').filter((path) => !path.endsWith('.test.ts'));
}

/** What /docs is made of (scripts/docs/build.mjs); its look is the dashboard's. */
function docsSources() {
  const look = ['dashboard/src/styles/tokens.css', 'dashboard/public/theme.js', 'dashboard/public/favicon.svg'];
  return [...['docs/guide', 'docs/behaviour', 'docs/site', 'scripts/docs'].flatMap(filesUnder), ...look];
}

function filesUnder(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)))
    .sort();
}

/** In place, so that a gateway that is running from dist keeps its files; the stamp is there only when all of it is current. */
async function build(fingerprint, checkTypes) {
  const startedAt = performance.now();
  console.log('Building.');
  rmSync(stampFile, { force: true });
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const args = [compiler, '-p', 'tsconfig.build.json', ...(checkTypes ? [] : ['--noCheck'])];
  const code = await run(process.execPath, args, {
    cwd: root,
    heartbeat: 'Still building',
  });
  if (code !== 0) throw new PrepareError('The build failed; the compiler names the file and line above.');
  finishOutput([...(await docs()), ...(await data()), ...(await bundle())]);
  writeFileSync(stampFile, fingerprint);
  console.log(`Built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);
}

/** Its paths. Imported only now: before the installation there is nothing that it could run with. */
async function docs() {
  const { buildDocs } = await import('./docs/build.mjs');
  try {
    return await buildDocs(root);
  } catch (error) {
    throw new PrepareError(`The documentation cannot be built: ${error.message}`);
  }
}

/** By the modules that have just been compiled. */
async function data() {
  const { compileCatalogue } = await import('./compile-catalogue.mjs');
  const { compileVocabulary } = await import('./compile-vocabulary.mjs');
  const { compileOpenApi } = await import('./compile-openapi.mjs');
  return [...(await compileCatalogue(root)), ...(await compileVocabulary(root)), ...(await compileOpenApi(root))];
}

/** Of the modules that have just been compiled. */
async function bundle() {
  const { bundleGateway } = await import('./bundle.mjs');
  return bundleGateway(root);
}

/** Copies what is no TypeScript (migrations), and deletes the output of sources that are gone, so that nothing can import it. */
function finishOutput(made) {
  const expected = new Set(made);
  for (const source of sources()) {
    const output = join('dist', source.slice('src/'.length));
    if (source.endsWith('.ts')) {
      const module = output.replace(/\.ts$/, '.js');
      expected.add(module).add(`${module}.map`);
    } else {
      expected.add(output);
      cpSync(join(root, source), join(root, output));
    }
  }
  for (const path of filesUnder('dist')) if (!expected.has(path)) rmSync(join(root, path));
}

function readText(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

/** Prepares and says what went wrong in one line; false on failure. */
export async function prepareOrExplain(options) {
  try {
    await prepare(options);
    return true;
  } catch (error) {
    if (!(error instanceof PrepareError)) throw error;
    console.error(error.message);
    return false;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = (await prepareOrExplain()) ? 0 : 1;
