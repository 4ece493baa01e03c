/** The proof of a receipt: for the account that it belongs to, and for operators. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { gatewayError } from '../../errors/gateway-error.js';
import type { ReceiptProof } from '../../proof/check-proof.js';
import { leafHash } from '../../proof/merkle.js';
import type { SealedLeaf } from '../../storage/log-types.js';
import { accountOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { json, operation, record } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { findWithin, reachedProjects, recordsOf, settledElsewhere } from './generations.js';

export function registerProof(app: FastifyInstance, deps: HttpDeps): void {
  app.get<{ Params: { id: string } }>('/v1/generation/:id/proof', (request) =>
    proofOf(deps, request.params.id, request),
  );
}

/** Under the prefix of the operators' API. */
export function registerAnyProof(app: FastifyInstance, deps: HttpDeps): void {
  app.get<{ Params: { id: string } }>('/generations/:id/proof', (request) => proofOf(deps, request.params.id, null));
}

/** Of the caller's account, as far as the caller reaches it; without a caller, of any. */
async function proofOf(deps: HttpDeps, id: string, caller: FastifyRequest | null): Promise<ReceiptProof> {
  const { log, generations } = deps.store;
  const shown = id.slice(0, 100);
  const accountId = caller && accountOf(caller).id;
  const find = () => (caller ? findWithin(deps, caller, id) : generations.find(null, id));
  const isBound = caller !== null && reachedProjects(caller) !== null;
  const leaf = await recordsOf(deps, async () => {
    // A record says which project it is of; its leaf alone does not.
    const found = isBound ? null : await log.leaf(id, accountId);
    if (found !== null) return found;
    // The id of a request, or of a generation that the queue does not have.
    const generation = (await find()) ?? (await settledElsewhere(deps, id, find));
    return generation && ((await log.leaf(generation.id, generation.accountId)) ?? 'unsealed');
  });
  if (leaf === null) throw gatewayError('generation_not_found', { id: shown, anywhere: accountId === null });
  if (leaf === 'unsealed') throw gatewayError('receipt_not_sealed', { id: shown });
  if (leaf === 'altered') throw gatewayError('generation_altered', { id: shown });
  return proofJson(leaf);
}

function proofJson({ receipt, leafIndex, state, inclusionPath }: SealedLeaf): ReceiptProof {
  return {
    object: 'receipt_proof',
    receipt,
    leaf_hash: leafHash(receipt).toString('base64'),
    leaf_index: leafIndex,
    tree_size: state.size,
    inclusion_path: inclusionPath.map((hash) => hash.toString('base64')),
    checkpoint: state.checkpoint ?? '',
    verifier_key: state.keys.at(-1)?.verifierKey ?? '',
  };
}

const proof = json(
  'The proof.',
  record('ReceiptProof', {
    object: { const: 'receipt_proof' },
    receipt: s.text('The receipt: canonical JSON (RFC 8785), as a text.'),
    leaf_hash: s.text('SHA-256 of a zero byte and the receipt.', { contentEncoding: 'base64' }),
    leaf_index: s.integer('Its place in the log.'),
    tree_size: s.integer('The size of the log at the checkpoint.'),
    inclusion_path: s.array(
      { type: 'string', contentEncoding: 'base64' },
      'The hashes from the leaf to the root (RFC 6962).',
    ),
    checkpoint: s.text('The signed checkpoint (C2SP tlog-checkpoint).'),
    verifier_key: s.text('The key that has signed it (C2SP signed-note).'),
  }),
);

export const proofOperations = {
  'GET /v1/generation/{id}/proof': operation('getReceiptProof', 'Get the proof of a receipt', {
    description: 'At most two seconds after the answer ended. `lodestone receipt verify` checks it.',
    answers: proof,
  }),
  'GET /admin/v1/generations/{id}/proof': operation('getAnyReceiptProof', 'Get the proof of any account’s receipt', {
    answers: proof,
  }),
};
