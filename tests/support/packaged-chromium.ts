/** The Chromium of the package `@sparticuz/chromium`, where it is installed: unpacked into a folder of its own, with the libraries and the font that it brings. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packageName = '@sparticuz/chromium';

interface ChromiumPackage {
  default: { executablePath(): Promise<string> };
  inflate(file: string): Promise<string>;
  setupLambdaEnvironment(libraries: string): void;
}

export interface PackagedChromium {
  path: string;
  env: Record<string, string>;
}

export async function packagedChromium(): Promise<PackagedChromium | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  let entry: string;
  try {
    entry = import.meta.resolve(packageName);
  } catch {
    return undefined;
  }
  // It unpacks into the temporary folder and takes what it finds there, also another version's: hence one of its own.
  const folder = join(tmpdir(), 'lodestone-chromium');
  mkdirSync(join(folder, 'fonts', 'fonts'), { recursive: true });
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  try {
    const chromium = (await import(packageName)) as ChromiumPackage;
    const path = await chromium.default.executablePath();
    await chromium.inflate(join(dirname(fileURLToPath(entry)), '..', 'bin', 'al2023.tar.br'));
    chromium.setupLambdaEnvironment(join(folder, 'al2023', 'lib'));
    // Its own file names another folder, and text would be invisible.
    writeFileSync(join(folder, 'fonts', 'fonts.conf'), fontsConf(folder));
    return { path, env: { ...(process.env as Record<string, string>), FONTCONFIG_PATH: join(folder, 'fonts') } };
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
}

const fontsConf = (folder: string) =>
  `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>${folder}/fonts/fonts</dir><cachedir>${folder}/fonts/cache</cachedir></fontconfig>`;
