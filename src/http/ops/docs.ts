/** `/docs`: the guide and the reference (contract 9). No key is needed; the guards apply as on any path (ruling 15). */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { HttpDeps } from '../deps.js';
import { chosenEncoding, isUnchanged } from '../server/static-answer.js';
import { readEntry, type SiteEntry, siteEntries } from './docs-site.js';

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

/** The reference's own bundle writes style elements and attributes (docs/decisions/0013-docs-site.md). Scripts stay strict. */
const withInlineStyles = strict.map((rule) => (rule.startsWith('style-src') ? `${rule} 'unsafe-inline'` : rule));

const policies = { guide: strict.join('; '), reference: withInlineStyles.join('; ') };

export function registerDocs(app: FastifyInstance, { logger }: Pick<HttpDeps, 'logger'>): void {
  const entries = siteEntries();
  if (entries.length === 0) logger.warn({}, 'there is no documentation to serve: it was not built');
  for (const entry of entries) app.get(entry.path, (request, reply) => sendEntry(entry, request, reply));
}

async function sendEntry(entry: SiteEntry, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { page, etag, contentType, compressed } = entry;
  reply.headers({
    etag,
    vary: 'accept-encoding',
    'cache-control': page ? 'public, max-age=0, must-revalidate' : 'public, max-age=31536000, immutable',
    ...(page && { 'content-security-policy': policies[page] }),
  });
  if (isUnchanged(request, etag)) return reply.code(304).send();
  const encoding = compressed ? chosenEncoding(request.headers['accept-encoding'], ['br', 'gzip']) : undefined;
  if (encoding) reply.header('content-encoding', encoding);
  return reply.header('content-type', contentType).send(await readEntry(entry, encoding));
}
