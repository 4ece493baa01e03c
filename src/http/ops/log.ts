/** The log of receipts as everybody can read it: what it is, its newest checkpoint and its hash tiles. No receipt is in it, only hashes. */
import type { FastifyInstance } from 'fastify';
import { gatewayError } from '../../errors/gateway-error.js';
import { hashBytes } from '../../proof/merkle.js';
import { readTilePath, tileWidth } from '../../proof/tiles.js';
import { rotateLogKey } from '../admin/log-key.js';
import { proofOperations } from '../api/proof.js';
import type { HttpDeps } from '../deps.js';
import { json, operation, record, resource, textAnswer } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
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

const logKey = record('LogKey', {
  verifier_key: s.text('`<origin>+<hash>+<base64 key>`.'),
  from: s.text('Since when it signs.'),
  to: s.textOrNull('Until when it signed; null for the key in use.'),
});
const logState = s.object({
  origin: s.text('The name of the log.'),
  keys: s.array(logKey, 'All keys that have signed it, oldest first.'),
  checkpoint: s.text('The address of the newest checkpoint.'),
  tiles: s.text('The address that the paths of tiles follow.'),
});
const octets = {
  'application/octet-stream': { schema: { type: 'string', contentMediaType: 'application/octet-stream' } },
};

const about = 'A signed, append-only log of receipts. Proofs can be checked without the gateway.';
export const receiptLog = resource('Receipts', about, 'key', {
  ...proofOperations,
  'POST /admin/v1/log/rotate-key': rotateLogKey,
  'GET /.well-known/lodestone/log': operation('getLog', 'The log of receipts', {
    access: 'open',
    answers: json('What it is called, who signs it, and where it is.', logState),
  }),
  'GET /log/checkpoint': operation('getLogCheckpoint', 'The newest checkpoint', {
    access: 'open',
    answers: textAnswer('A signed note with origin, size and root hash.', 'text/plain', '^\\S+\\n\\d+\\n'),
  }),
  'GET /log/tile/{path}': operation('getLogTile', 'A hash tile', {
    access: 'open',
    description:
      'In the layout of C2SP tlog-tiles: `<level>/<index>`, or `<level>/<index>.p/<width>` for a part of a tile.',
    answers: { description: 'Hashes of 32 bytes, one after the other.', content: octets },
  }),
});
