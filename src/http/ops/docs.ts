/** Serves `/docs`, the guide and the API reference. No key is needed. */

import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { HttpDeps } from '../deps.js';
import { chosenEncoding, isUnchanged, type StaticContent, sendStatic, staticContent } from '../server/static-answer.js';

const strict = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];

/** The bundle of the reference writes style elements and attributes (docs/decisions/0013-docs-site.md). */
const withInlineStyles = strict.map((rule) => (rule.startsWith('style-src') ? `${rule} 'unsafe-inline'` : rule));

export const strictPolicy = strict.join('; ');
const pageCaching = 'public, max-age=0, must-revalidate';
const policies = { guide: strictPolicy, reference: withInlineStyles.join('; ') };

export function registerDocs(app: FastifyInstance, deps: Pick<HttpDeps, 'logger' | 'statusIsPublic'>): void {
  const entries = siteEntries();
  if (entries.length === 0) deps.logger.warn({}, 'the documentation was not built; /docs answers 404');
  const byPath = new Map(entries.map((entry) => [entry.path, entry]));
  // Two routes and not one for each of the many files: adding them took a tenth of the start.
  for (const route of ['/docs', '/docs/*']) {
    app.get(route, { config: { anyPath: true, countsByPath: true } }, async (request, reply) => {
      const entry = byPath.get(request.originalUrl.split('?', 1)[0] ?? '');
      return entry ? sendEntry(entry, request, reply, deps) : reply.callNotFound();
    });
  }
  for (const path of byPath.keys()) app.knownPaths.add(path, ['GET', 'HEAD']);
}

type PublicParts = Pick<HttpDeps, 'statusIsPublic'>;

async function sendEntry(
  entry: SiteEntry,
  request: FastifyRequest,
  reply: FastifyReply,
  { statusIsPublic }: PublicParts,
): Promise<FastifyReply> {
  const { page, etag, contentType, compressed } = entry;
  if (page && !statusIsPublic) {
    reply.header('content-security-policy', policies[page]);
    return sendStatic(request, reply, await withoutStatus(entry), pageCaching);
  }
  reply.headers({
    etag,
    vary: 'accept-encoding',
    'cache-control': page ? pageCaching : 'public, max-age=31536000, immutable',
    ...(page && { 'content-security-policy': policies[page] }),
  });
  if (isUnchanged(request, etag)) return reply.code(304).send();
  const encoding = compressed ? chosenEncoding(request.headers['accept-encoding'], ['br', 'gzip']) : undefined;
  if (encoding) reply.header('content-encoding', encoding);
  return reply.header('content-type', contentType).send(await readEntry(entry, encoding));
}

/** The page for an address that leads nowhere; false where the documentation was not built. */
export async function sendDocsPage(
  path: string,
  request: FastifyRequest,
  reply: FastifyReply,
  { statusIsPublic }: PublicParts,
): Promise<boolean> {
  const entry = siteEntries().find((one) => one.path === path);
  if (!entry) return false;
  reply.headers({ 'cache-control': 'no-store', 'content-security-policy': policies.guide });
  if (!statusIsPublic) {
    await reply.header('content-type', entry.contentType).send((await withoutStatus(entry)).plain);
    return true;
  }
  const encoding = chosenEncoding(request.headers['accept-encoding'], ['br', 'gzip']);
  if (encoding) reply.header('content-encoding', encoding);
  await reply.header('content-type', entry.contentType).send(await readEntry(entry, encoding));
  return true;
}

/** The output of scripts/docs. The path is the same from src/ and from dist/. */
const folder = new URL('../../../dist/docs/', import.meta.url);

interface SiteEntry {
  /** `/docs`, `/docs/errors`, `/docs/assets/site-….css`. */
  readonly path: string;
  readonly file: string;
  readonly contentType: string;
  readonly etag: string;
  /** The kind of page decides its Content-Security-Policy. Absent on assets, whose names change with their content. */
  readonly page?: 'guide' | 'reference';
  /** `file.br` and `file.gz` stand in its place. */
  readonly compressed: boolean;
}

let readEntries: readonly SiteEntry[] | undefined;

/** Empty where only the compiler has run, not the whole build. */
function siteEntries(): readonly SiteEntry[] {
  const list = new URL('site.json', folder);
  readEntries ??= existsSync(list) ? (JSON.parse(readFileSync(list, 'utf8')) as SiteEntry[]) : [];
  return readEntries;
}

/** The link to the status page, which the header of every page has (scripts/docs/layout.mjs). */
const statusLink = /<a href="\/status"[^>]*>[^<]*<\/a>/g;
const pagesWithoutStatus = new Map<string, Promise<StaticContent>>();

/** A page where the operator does not publish the status: the link would lead to a 404. */
function withoutStatus(entry: SiteEntry): Promise<StaticContent> {
  const made = pagesWithoutStatus.get(entry.path);
  if (made) return made;
  const making = removeStatus(entry).catch((error) => {
    pagesWithoutStatus.delete(entry.path);
    throw error;
  });
  pagesWithoutStatus.set(entry.path, making);
  return making;
}

async function removeStatus(entry: SiteEntry): Promise<StaticContent> {
  const html = String(await readEntry(entry, undefined));
  return staticContent(entry.contentType, html.replace(statusLink, ''));
}

const endings = { br: '.br', gzip: '.gz' } as const;

async function readEntry({ file, compressed }: SiteEntry, encoding: keyof typeof endings | undefined): Promise<Buffer> {
  const read = (ending: string) => readFile(new URL(file + ending, folder));
  if (!compressed) return read('');
  return encoding ? read(endings[encoding]) : promisify(gunzip)(await read(endings.gzip));
}
