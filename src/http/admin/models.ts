/** A model's availability: available, soft-disabled (503 with a reason) or disabled (404) (§3.2). */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { gatewayError } from '../../errors/gateway-error.js';
import type { HttpDeps } from '../deps.js';
import { actorOf } from './actor.js';
import { bodyFields, personText } from './fields.js';

export const modelStateNames = ['available', 'soft_disabled', 'disabled'] as const;
export const newState = z.strictObject({
  state: z
    .enum(modelStateNames, `must be one of ${modelStateNames.join(', ')}`)
    .describe('`soft_disabled` answers 503 `model_unavailable` with the reason, `disabled` 404 `model_not_found`.'),
  reason: personText(500).nullish(),
});

export function registerModelAvailability(app: FastifyInstance, { catalogue, modelStates, audit }: HttpDeps): void {
  app.put<{ Params: { creator: string; model: string } }>('/models/:creator/:model/availability', async (request) => {
    const { state, reason = null } = bodyFields(request, newState);
    const canonicalId = `${request.params.creator}/${request.params.model}`;
    if (!catalogue.current) throw gatewayError('service_unavailable');
    if (!catalogue.current.models.has(canonicalId)) {
      throw gatewayError('resource_not_found', { what: 'model', id: canonicalId.slice(0, 200) });
    }
    await modelStates.set(canonicalId, { state, reason });
    await audit.record(actorOf(request), 'model.availability', canonicalId, { state, reason });
    return { object: 'model_availability', id: canonicalId, state, reason };
  });
}
