/** Serves `GET /openapi.json`, which needs no key. The build has made it (scripts/compile-openapi.mjs). */
import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { allowOrigin } from '../server/headers.js';
import { type StaticContent, sendStatic, staticContent } from '../server/static-answer.js';

/** The path is the same from src/ and from dist/. */
const file = new URL('../../../dist/http/openapi/document.json', import.meta.url);

export function registerOpenApi(app: FastifyInstance): void {
  /** Asked for once, however many requests come before it is there. */
  let content: Promise<StaticContent> | undefined;
  app.get('/openapi.json', async (request, reply) => {
    // It is read when it is first asked for: most processes never are.
    content ??= readContent().catch((error) => {
      content = undefined;
      throw error;
    });
    // Tools of other origins may read it, as they may call the API.
    reply.headers(allowOrigin);
    return sendStatic(request, reply, await content, 'public, max-age=0, must-revalidate');
  });
}

async function readContent(): Promise<StaticContent> {
  return staticContent('application/json; charset=utf-8', await readFile(file, 'utf8'));
}
