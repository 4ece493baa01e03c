/** The version of this package, as its package.json says it; the same file seen from src/ and from dist/. */
import { readFileSync } from 'node:fs';

const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');

export const version = (JSON.parse(manifest) as { version: string }).version;
