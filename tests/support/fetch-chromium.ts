/**
 * Fetches the Chromium of the npm package `@sparticuz/chromium`, which needs no root and brings its own libraries and a font. The lock
 * file in `chromium/` pins its bytes. It is no devDependency, because `npm start` on a fresh clone would then download 67 MB of it.
 */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

export interface FoundBrowser {
  path: string;
  /** What it needs beside the environment of the tests. */
  env?: Record<string, string>;
}

const run = promisify(execFile);
const timeoutMs = 120_000;
const pinned = join(import.meta.dirname, 'chromium');
const cache = resolve(import.meta.dirname, '../../node_modules/.cache');

/** The package unpacks itself, its libraries and its fonts into the temporary folder of its process. */
const unpack = `
  import { dirname, join } from 'node:path';
  import { fileURLToPath } from 'node:url';
  const name = '@sparticuz/chromium';
  const { default: chromium, inflate } = await import(name);
  await chromium.executablePath();
  await inflate(join(dirname(fileURLToPath(import.meta.resolve(name))), '..', 'bin', 'al2023.tar.br'));`;

export async function fetchChromium(): Promise<FoundBrowser> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(`@sparticuz/chromium runs on Linux x64 only, this is ${process.platform} ${process.arch}`);
  }
  const { dependencies } = JSON.parse(readFileSync(join(pinned, 'package.json'), 'utf8'));
  const folder = join(cache, `chromium-${dependencies['@sparticuz/chromium']}`);
  try {
    if (!existsSync(folder)) await fetchInto(folder);
  } catch (error) {
    throw new Error(`@sparticuz/chromium cannot be fetched: ${errorLine(error)}`);
  }
  return browserIn(folder);
}

/** In a folder of its own first: a run that is interrupted, or another at the same time, leaves no half of a browser behind. */
async function fetchInto(folder: string): Promise<void> {
  mkdirSync(cache, { recursive: true });
  const draft = mkdtempSync(join(cache, 'chromium-'));
  try {
    cpSync(pinned, draft, { recursive: true });
    const npm = process.env.npm_execpath;
    const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
    const options = { cwd: draft, timeout: timeoutMs };
    if (npm?.endsWith('.js')) await run(process.execPath, [npm, ...args], options);
    else await run('npm', args, options);
    await run(process.execPath, ['--input-type=module', '-e', unpack], {
      ...options,
      env: { ...process.env, TMPDIR: draft },
    });
    rmSync(join(draft, 'node_modules'), { recursive: true });
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}

function browserIn(folder: string): FoundBrowser {
  const fonts = join(folder, 'fonts');
  // The package's own file names a folder that does not exist here, and all text would be invisible.
  writeFileSync(
    join(fonts, 'fonts.conf'),
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>${fonts}/fonts</dir><cachedir>${fonts}/cache</cachedir></fontconfig>`,
  );
  return {
    path: join(folder, 'chromium'),
    env: { LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'), FONTCONFIG_PATH: fonts },
  };
}

/** The line in which a failed command says what went wrong. */
export function errorLine(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  const lines = (stderr?.trim() || message).split('\n');
  return lines.find((line) => /^(npm error|E:)/.test(line)) ?? lines.at(-1)!;
}
