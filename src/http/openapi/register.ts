/** `GET /openapi.json` (contract 9): no key is needed, and the guards apply as on any path. */
import type { FastifyInstance } from 'fastify';
import { allowOrigin } from '../server/common-headers.js';
import { type StaticContent, sendStatic, staticContent } from '../server/static-answer.js';
import { openApiDocument } from './document.js';

export function registerOpenApi(app: FastifyInstance): void {
  let content: StaticContent | undefined;
  app.get('/openapi.json', (request, reply) => {
    content ??= staticContent('application/json; charset=utf-8', JSON.stringify(openApiDocument));
    // Tools on other origins may read it, as they may call the API that it describes (ruling 19).
    reply.headers(allowOrigin);
    return sendStatic(request, reply, content, 'public, max-age=0, must-revalidate');
  });
}
