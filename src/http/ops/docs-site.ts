/** The documentation site as the build made it (scripts/docs): a list of what there is, and files that are read when asked for. */
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

/** The same folder seen from src/ and from dist/. */
const folder = new URL('../../../dist/docs/', import.meta.url);

export interface SiteEntry {
  /** `/docs`, `/docs/errors`, `/docs/assets/site-….css`. */
  readonly path: string;
  readonly file: string;
  readonly contentType: string;
  readonly etag: string;
  /** The kind of page, which decides its Content-Security-Policy; absent on assets, whose names change with their content. */
  readonly page?: 'guide' | 'reference';
  /** Beside the file itself there are `file.br` and `file.gz`. */
  readonly compressed: boolean;
}

/** Empty where only the compiler has run. */
export function siteEntries(): readonly SiteEntry[] {
  const list = new URL('site.json', folder);
  return existsSync(list) ? (JSON.parse(readFileSync(list, 'utf8')) as SiteEntry[]) : [];
}

const endings = { br: '.br', gzip: '.gz' } as const;

export function readEntry({ file }: SiteEntry, encoding: keyof typeof endings | undefined): Promise<Buffer> {
  return readFile(new URL(`${file}${encoding ? endings[encoding] : ''}`, folder));
}
