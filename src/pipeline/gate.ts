/** Stage 4: whether the model may be served now (contract 5, check 14). */
import { gatewayError } from '../errors/gateway-error.js';
import type { PipelinePorts, Plan } from './handover.js';

export function gate(ports: Pick<PipelinePorts, 'modelStates'>, plan: Plan, requestedModel: string): void {
  const model = plan.routes[0]?.model;
  if (!model) return;
  const { state, reason } = ports.modelStates.get(model.canonicalId);
  if (state === 'available') return;
  if (state === 'disabled') throw gatewayError('model_not_found', { id: requestedModel });
  throw gatewayError('model_unavailable', {
    id: requestedModel,
    reason: reason ?? 'the operator has marked it unavailable',
  });
}
