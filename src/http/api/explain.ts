/** `POST /v1/routes/explain`: what would become of a chat request (contract 4.7). It takes bodies as large as the chat does. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { bodyBytesMax } from '../../pipeline/admit/checks.js';
import { checkContentType } from '../../pipeline/validate.js';
import { callerOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { readBody } from '../server/body.js';

export async function registerExplain(app: FastifyInstance, { explain, bodyMemory }: HttpDeps): Promise<void> {
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (request: FastifyRequest) => readBody(request, bodyMemory, bodyBytesMax));
    scope.addHook('onResponse', async (request) => request.bodyHold?.release());
    scope.post('/v1/routes/explain', async (request) => {
      checkContentType(request.headers['content-type']);
      return explain(
        callerOf(request),
        request.origin.territory,
        (request.body as Buffer | undefined) ?? Buffer.alloc(0),
      );
    });
  });
}
