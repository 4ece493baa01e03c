/** Serves `GET /openapi.json`, which needs no key. */
import type { FastifyInstance } from 'fastify';
import { allowOrigin } from '../server/headers.js';
import { type StaticContent, sendStatic, staticContent } from '../server/static-answer.js';

export function registerOpenApi(app: FastifyInstance): void {
  let content: StaticContent | undefined;
  app.get('/openapi.json', async (request, reply) => {
    // It is made when it is first asked for: most processes never are.
    const { openApiDocument } = await import('./document.js');
    content ??= staticContent('application/json; charset=utf-8', JSON.stringify(openApiDocument));
    // Tools of other origins may read it, as they may call the API.
    reply.headers(allowOrigin);
    return sendStatic(request, reply, content, 'public, max-age=0, must-revalidate');
  });
}
