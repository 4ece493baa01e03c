/** `POST /admin/v1/log/rotate-key`: replaces the key that signs the log of receipts. */
import type { FastifyInstance } from 'fastify';
import { gatewayError } from '../../errors/gateway-error.js';
import { RotationRefused } from '../../sealing/rotate-key.js';
import type { HttpDeps } from '../deps.js';
import { json, operation } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { actorOf } from './audit.js';

export function registerLogKey(app: FastifyInstance, { proof, audit, logger }: HttpDeps): void {
  app.post('/log/rotate-key', async (request) => {
    if (proof.rotate === null) throw gatewayError('log_not_found', { what: 'This gateway has no log of receipts.' });
    const rotated = await proof.rotate().catch((error: unknown) => {
      const isFile = typeof (error as NodeJS.ErrnoException).syscall === 'string';
      if (!isFile && !(error instanceof RotationRefused)) throw error;
      logger.warn({ error: String(error) }, 'the key of the log was not replaced');
      throw gatewayError('key_not_rotated', { reason: (error as Error).message });
    });
    const { verifierKey, previous } = rotated;
    await audit.record(actorOf(request), 'log.rotate_key', 'log', { verifier_key: verifierKey, previous });
    return { object: 'log_key', verifier_key: verifierKey, previous };
  });
}

const rotatedKey = s.object({
  object: { const: 'log_key' },
  verifier_key: s.text('The key that signs from now on.'),
  previous: s.text('The key that signed until now.'),
});

export const rotateLogKey = operation('rotateLogKey', 'Replace the key of the log', {
  description: 'The old key stays listed, and signs the checkpoint of the change too.',
  answers: json('The new key.', rotatedKey),
});
