/** Sends content that is constant while the process runs, compressed where the client accepts it, with an `etag`. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** In order of preference. */
const encodings = ['br', 'gzip'] as const;
type Encoding = (typeof encodings)[number];

export interface StaticContent {
  readonly contentType: string;
  readonly etag: string;
  readonly plain: Buffer;
  readonly compressed: { readonly [E in Encoding]?: Buffer };
}

function contentEtag(bytes: Buffer): string {
  return `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
}

/** Compresses on a thread of the pool: a large text takes longer than a client should wait for another. */
export async function staticContent(contentType: string, text: string): Promise<StaticContent> {
  const plain = Buffer.from(text);
  const [br, zipped] = await Promise.all([
    promisify(brotliCompress)(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
    promisify(gzip)(plain),
  ]);
  return { contentType, etag: contentEtag(plain), plain, compressed: { br, gzip: zipped } };
}

/** The best available encoding that the client accepts; undefined for none. `br;q=0` refuses one. */
export function chosenEncoding(accepted: string | undefined, available: readonly string[]): Encoding | undefined {
  const taken = (accepted ?? '')
    .toLowerCase()
    .split(',')
    .map((part) => part.split(';').map((piece) => piece.trim()))
    .filter(([, quality = 'q=1']) => Number(quality.replace('q=', '')) > 0)
    .map(([name]) => name);
  return encodings.find((encoding) => available.includes(encoding) && taken.includes(encoding));
}

export function isUnchanged(request: FastifyRequest, etag: string): boolean {
  const sent = request.headers['if-none-match'];
  return sent?.split(',').some((one) => one.trim().replace(/^W\//, '') === etag) ?? false;
}

export function sendStatic(
  request: FastifyRequest,
  reply: FastifyReply,
  content: StaticContent,
  cacheControl: string,
): FastifyReply {
  const { contentType, etag, plain, compressed } = content;
  reply.headers({ etag, 'cache-control': cacheControl, vary: 'accept-encoding' });
  if (isUnchanged(request, etag)) return reply.code(304).send();
  const encoding = chosenEncoding(request.headers['accept-encoding'], Object.keys(compressed));
  if (encoding) reply.header('content-encoding', encoding);
  return reply.header('content-type', contentType).send(encoding ? compressed[encoding] : plain);
}
