/** The version in package.json, which is at the same path seen from src/ and from dist/. */
import { readFileSync } from 'node:fs';

const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');

export const version = (JSON.parse(manifest) as { version: string }).version;
