/**
 * Bundles the compiled gateway and the packages that it loads into a few files under dist/bundle. Reading a thousand small modules took
 * most of a start. Side threads, scripts and tests still use the single modules beside it.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const entries = { main: 'main.js', settle: 'settle.js', cli: 'cli/cli.js' };

/** Names without a hash: a build writes over the files of the one before, as it does with the single modules. */
const output = { format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'part-[name].js' };

/** Returns the paths of its files, from the root. */
export async function bundleGateway(root) {
  const folder = join(root, 'dist', 'bundle');
  const bundle = await openBundle(root);
  mkdirSync(folder, { recursive: true });
  const { output: chunks } = await bundle.write({ ...output, dir: folder });
  await bundle.close();
  const licences = join(folder, 'LICENSES.txt');
  const modules = chunks.flatMap((chunk) => Object.keys(chunk.modules ?? {}));
  writeFileSync(licences, licenceTexts([...modules, join(root, 'node_modules', 'gpt-tokenizer', 'package.json')]));
  return [...chunks.map(({ fileName }) => join(folder, fileName)), licences].map((path) => relative(root, path));
}

/** The source maps of the same bundle, by the name of its file, for those who look for a function of a profile. */
export async function bundleMaps(root) {
  const bundle = await openBundle(root);
  const { output: chunks } = await bundle.generate({ ...output, dir: join(root, 'dist', 'bundle'), sourcemap: true });
  await bundle.close();
  return new Map(chunks.filter(({ map }) => map).map(({ fileName, map }) => [fileName, map]));
}

async function openBundle(root) {
  // Imported here: before the installation there is nothing that it could run with.
  const { rolldown } = await import('rolldown');
  const compiled = join(root, 'dist');
  const folder = join(compiled, 'bundle');
  const entryFiles = Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, join(compiled, file)]));
  return rolldown({
    cwd: root,
    input: entryFiles,
    platform: 'node',
    // An add-on that nobody installs, and a package that has to be the one that the exporter of traces loads too.
    external: ['pg-native', '@opentelemetry/api'],
    plugins: [keepAddresses(compiled, folder, [entryFiles.main, entryFiles.settle])],
    // Its plugin changes no line, so maps by line stay right.
    checks: { pluginTimings: false, sourcemapBroken: false },
  });
}

/**
 * A module finds the files beside it, such as the script of a thread, by its own address. In a bundle it keeps the address of its
 * single file. Only the programs themselves have the bundle's, because other processes run the same scripts.
 */
function keepAddresses(compiled, folder, programs) {
  return {
    name: 'keep-addresses',
    transform(code, id) {
      if (!id.startsWith(compiled) || programs.includes(id) || !code.includes('import.meta.url')) return null;
      const own = `new URL(${JSON.stringify(relative(folder, id))}, import.meta.url).href`;
      return { code: code.replaceAll('import.meta.url', own) };
    },
  };
}

/** The licences of the bundled packages, and of the vocabulary's, ask to be passed on with every copy. */
function licenceTexts(modules) {
  const packages = new Set();
  for (const id of modules) {
    const found = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replaceAll('\\', '/'));
    if (found) packages.add(found[0]);
  }
  const texts = [...packages].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((entry) => /^licen[cs]e(\.|$)/i.test(entry));
    const text = file && existsSync(join(folder, file)) ? readFileSync(join(folder, file), 'utf8').trim() : '';
    return `${name} ${version}: ${license}\n\n${text}`.trim();
  });
  return `The files in this folder, and the vocabulary of the tokenizer, come from these packages.\n\n${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}
