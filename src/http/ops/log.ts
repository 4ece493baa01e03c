/** The log of receipts as everybody can read it: what it is, its newest checkpoint and its hash tiles. No receipt is in it, only hashes. */
import type { FastifyInstance } from 'fastify';
import { gatewayError } from '../../errors/gateway-error.js';
import { hashBytes } from '../../proof/merkle.js';
import { readTilePath, tileWidth } from '../../proof/tiles.js';
import type { HttpDeps } from '../deps.js';
import { allowOrigin } from '../server/headers.js';

const notBegun = 'This gateway has no log of receipts.';

export function registerLog(app: FastifyInstance, { store, proof }: HttpDeps): void {
  app.get('/.well-known/lodestone/log', async (_request, reply) => {
    const { origin, keys, checkpoint } = await proof.state();
    if (origin === null || checkpoint === null) throw gatewayError('log_not_found', { what: notBegun });
    const base = proof.baseUrl();
    reply.headers({ ...allowOrigin, 'cache-control': 'public, max-age=10' });
    return {
      origin,
      keys: keys.map(({ verifierKey, fromMs, toMs }) => ({
        verifier_key: verifierKey,
        from: new Date(fromMs).toISOString(),
        to: toMs === null ? null : new Date(toMs).toISOString(),
      })),
      checkpoint: `${base}/log/checkpoint`,
      tiles: `${base}/log/tile`,
    };
  });

  app.get('/log/checkpoint', async (_request, reply) => {
    const { checkpoint } = await proof.state();
    if (checkpoint === null) throw gatewayError('log_not_found', { what: notBegun });
    // A cache would show one that is older than a proof which its reader holds.
    reply.headers({ ...allowOrigin, 'cache-control': 'no-cache' });
    return reply.type('text/plain; charset=utf-8').send(checkpoint);
  });

  // A tile never changes: one that is not full is the beginning of the full one.
  app.get<{ Params: { '*': string } }>('/log/tile/*', async (request, reply) => {
    const place = readTilePath(request.params['*']);
    const width = place?.width ?? tileWidth;
    const hashes = place && (await store.log.tile(place));
    if (!hashes || hashes.length < width * hashBytes) {
      // It may have it in a moment.
      reply.header('cache-control', 'no-store');
      throw gatewayError('log_not_found', { what: `The log has no tile "${request.params['*'].slice(0, 100)}".` });
    }
    reply.headers({ ...allowOrigin, 'cache-control': 'public, max-age=31536000, immutable' });
    return reply.type('application/octet-stream').send(hashes.subarray(0, width * hashBytes));
  });
}
