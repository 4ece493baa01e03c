/**
 * Serves the dashboard, a single-page application: every path under `/dashboard` is its index. The names of its files contain a hash of
 * their content, so browsers may cache them for ever. Nothing is loaded from other hosts, and no inline script runs.
 */

import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { gatewayError } from '../../errors/gateway-error.js';
import { chosenEncoding } from '../server/static-answer.js';
import type { DashboardDeps } from './dashboard-deps.js';

const pageHeaders = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
  vary: 'accept-encoding',
} as const;

const immutable = 'public, max-age=31536000, immutable';

export async function registerPages(app: FastifyInstance, { files: folder, signIns }: DashboardDeps): Promise<void> {
  const send = async (request: FastifyRequest, reply: FastifyReply, name: string, cacheControl: string) => {
    const file = await builtFile(folder, name, request.headers['accept-encoding']);
    if (!file) return undefined;
    reply.headers({ ...pageHeaders, 'cache-control': cacheControl, 'content-type': file.contentType });
    if (file.contentEncoding !== null) reply.header('content-encoding', file.contentEncoding);
    return reply.send(file.body);
  };
  const index = async (request: FastifyRequest, reply: FastifyReply) => {
    // A visitor of the dashboard is about to sign in.
    signIns.warm();
    return (await send(request, reply, 'index.html', 'no-store')) ?? notFound(request);
  };

  app.get('/dashboard', index);
  app.get<{ Params: { '*': string } }>('/dashboard/*', { config: { anyPath: true } }, async (request, reply) => {
    const name = request.params['*'];
    if (name === 'api' || name.startsWith('api/')) return notFound(request);
    // An asset of an older build is a 404, not the index.
    if (name.startsWith('assets/')) return (await send(request, reply, name, immutable)) ?? notFound(request);
    return (name === '' ? undefined : await send(request, reply, name, 'no-cache')) ?? index(request, reply);
  });
}

function notFound(request: FastifyRequest): never {
  const path = request.originalUrl.split('?', 1)[0]?.slice(0, 200) ?? '';
  throw gatewayError('path_not_found', { method: request.method, path });
}

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

/** Only files that the build made: in its folder or in `assets`, not hidden, and without `..`. */
const builtName = /^(?:assets\/)?\w[\w.-]*$/;

/** The build compresses the files that are worth it. */
const endings = { br: '.br', gzip: '.gz' } as const;

interface BuiltFile {
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
