/** Refuses a model at a door that does not serve models of its kind. */
import type { ModelKind } from '../catalogue/route.js';
import type { Door } from '../doors/door.js';
import { gatewayError } from '../errors/gateway-error.js';
import type { Plan } from './handover.js';

const servedAt: Record<ModelKind, string> = {
  chat: '/v1/chat/completions, /v1/messages and /v1/responses',
  embedding: '/v1/embeddings',
  rerank: '/v1/rerank',
};

export function checkKind(door: Pick<Door, 'kind'>, { id, routes: [first] }: Plan): void {
  const kind = first?.model.kind ?? 'chat';
  if (kind !== door.kind) throw gatewayError('model_kind', { id, kind, doors: servedAt[kind] });
}
