/** The files of a built front end: only what the build made is ever served, whatever path is asked for. */
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { chosenEncoding } from '../server/static-answer.js';

const contentTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};

/** The build lays everything into its folder or into `assets`; nothing hidden, and no way up. */
const builtName = /^(?:assets\/)?\w[\w.-]*$/;

/** The build has compressed beforehand what is worth it. */
const endings = { br: '.br', gzip: '.gz' } as const;

export interface BuiltFile {
  readonly contentType: string;
  readonly contentEncoding: string | null;
  readonly body: Buffer;
}

/** `name` is relative to the folder, with forward slashes; undefined where the build has no such file. */
export async function builtFile(
  folder: string,
  name: string,
  acceptEncoding: string | undefined,
): Promise<BuiltFile | undefined> {
  const contentType = contentTypes[extname(name)];
  if (contentType === undefined || !builtName.test(name)) return undefined;
  const path = join(folder, name);
  const encoding = chosenEncoding(acceptEncoding, Object.keys(endings));
  const compressed = encoding && (await contentOf(path + endings[encoding]));
  if (compressed) return { contentType, contentEncoding: encoding, body: compressed };
  const plain = await contentOf(path);
  return plain && { contentType, contentEncoding: null, body: plain };
}

async function contentOf(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EISDIR') return undefined;
    throw error;
  }
}
