/** What the image holds, laid out in a folder: the files that the Dockerfile copies and the packages that it leaves, by hard links. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, linkSync, lstatSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { nameOf, productionPackages } from '../../scripts/production-packages.mjs';
import { type Instruction, lock, root } from './shipped-files.js';

/** Of `COPY --from=build /app/a /app/b /app/`: the sources, from the root of a checkout. */
function copiedFrom({ text }: Instruction): string[] {
  return text
    .split(' ')
    .slice(1, -1)
    .map((path) => path.replace(/^\/app\//, ''));
}

export function layOut(image: readonly Instruction[], app: string): void {
  const copied = image
    .filter(({ name, text }) => name === 'COPY' && text.startsWith('--from=build'))
    .flatMap(copiedFrom);
  // The bill of materials is made while the image is built.
  for (const path of copied.filter((each) => each !== 'node_modules' && each !== 'sbom.cdx.json')) {
    linkTree(join(root, path), join(app, path));
  }
  if (!copied.includes('node_modules')) return;
  for (const place of productionPackages(lock).keys()) {
    if (lstatSync(join(root, place), { throwIfNoEntry: false })) linkTree(join(root, place), join(app, place));
  }
}

/** Without packages inside packages, which are laid out by themselves. */
function linkTree(from: string, to: string): void {
  const entry = lstatSync(from);
  mkdirSync(dirname(to), { recursive: true });
  if (entry.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
  else if (!entry.isDirectory()) linkOrCopy(from, to);
  else {
    mkdirSync(to, { recursive: true });
    for (const name of readdirSync(from)) if (name !== 'node_modules') linkTree(join(from, name), join(to, name));
  }
}

/** The temporary folder may be on another disk. Found out once: a link that fails takes longer than the copy of a file. */
let onAnotherDisk = false;
function linkOrCopy(from: string, to: string): void {
  try {
    if (!onAnotherDisk) linkSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    onAnotherDisk = true;
  }
  if (onAnotherDisk) copyFileSync(from, to);
}

/** The step of the Dockerfile that makes the embedded PostgreSQL runnable, in the tree. */
export async function linkEmbedded(app: string): Promise<void> {
  const file = pathToFileURL(join(app, 'dist/storage/embedded/embedded-binaries.js')).href;
  const { locateBinaries } = (await import(file)) as { locateBinaries(user: object): string };
  locateBinaries({});
}

/** Every file and folder with its size and time of change: what a gateway that writes into its program would alter. */
export function listing(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => {
      const { size, mtimeMs } = lstatSync(path);
      return `${path} ${size} ${mtimeMs}`;
    })
    .toSorted();
}

/** Packages of the tree, by name. */
export const packagesIn = (app: string): string[] =>
  [...productionPackages(lock).keys()]
    .filter((place) => lstatSync(join(app, place), { throwIfNoEntry: false }))
    .map(nameOf);

/** Root would be let write anywhere, so it steps down, where somebody else can run Node at all. */
export function withoutRights(): { uid?: number; gid?: number } {
  const nobody = { uid: 65534, gid: 65534 };
  const can = process.getuid?.() === 0 && spawnSync(process.execPath, ['-v'], { ...nobody, cwd: '/' }).status === 0;
  return can ? nobody : {};
}
