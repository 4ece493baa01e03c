/** Describes the log of receipts and the proofs of single ones. */
import { json, type Resource } from '../operations.js';
import { array, integer, object, ref, text, textOrNull } from '../schema.js';
import type { Parameter } from '../types.js';

const tag = {
  name: 'Receipts',
  description: 'A signed, append-only log of receipts. Proofs can be checked without the gateway.',
};

const base64 = { contentEncoding: 'base64' };
const id: Parameter = {
  ...{ name: 'id', in: 'path', required: true },
  ...{ description: 'The `id` of an answer.', schema: { type: 'string' } },
};

const proof = object({
  object: { const: 'receipt_proof' },
  receipt: text('The receipt: canonical JSON (RFC 8785), as a text.'),
  leaf_hash: text('SHA-256 of a zero byte and the receipt.', base64),
  leaf_index: integer('Its place in the log.'),
  tree_size: integer('The size of the log at the checkpoint.'),
  inclusion_path: array({ type: 'string', ...base64 }, 'The hashes from the leaf to the root (RFC 6962).'),
  checkpoint: text('The signed checkpoint (C2SP tlog-checkpoint).'),
  verifier_key: text('The key that has signed it (C2SP signed-note).'),
});

const key = object({
  verifier_key: text('`<origin>+<hash>+<base64 key>`.'),
  from: text('Since when it signs.'),
  to: textOrNull('Until when it signed; null for the key in use.'),
});

const octets = {
  'application/octet-stream': { schema: { type: 'string', contentMediaType: 'application/octet-stream' } },
};

export const log: Resource = {
  tag,
  schemas: { ReceiptProof: proof, LogKey: key },
  operations: {
    'GET /v1/generation/{id}/proof': {
      id: 'getReceiptProof',
      summary: 'Get the proof of a receipt',
      parameters: [id],
      description: 'At most two seconds after the answer ended. `lodestone receipt verify` checks it.',
      answers: { '200': json('The proof.', ref('ReceiptProof')) },
    },
    'GET /admin/v1/generations/{id}/proof': {
      id: 'getAnyReceiptProof',
      summary: 'Get the proof of any account’s receipt',
      answers: { '200': json('The proof.', ref('ReceiptProof')) },
    },
    'POST /admin/v1/log/rotate-key': {
      id: 'rotateLogKey',
      summary: 'Replace the key of the log',
      description: 'The old key stays listed, and signs the checkpoint of the change too.',
      answers: {
        '200': json(
          'The new key.',
          object({
            object: { const: 'log_key' },
            verifier_key: text('The key that signs from now on.'),
            previous: text('The key that signed until now.'),
          }),
        ),
      },
    },
    'GET /.well-known/lodestone/log': {
      access: 'open',
      id: 'getLog',
      summary: 'The log of receipts',
      answers: {
        '200': json(
          'What it is called, who signs it, and where it is.',
          object({
            origin: text('The name of the log.'),
            keys: array(ref('LogKey'), 'All keys that have signed it, oldest first.'),
            checkpoint: text('The address of the newest checkpoint.'),
            tiles: text('The address that the paths of tiles follow.'),
          }),
        ),
      },
    },
    'GET /log/checkpoint': {
      access: 'open',
      id: 'getLogCheckpoint',
      summary: 'The newest checkpoint',
      answers: {
        '200': {
          description: 'A signed note with origin, size and root hash.',
          content: { 'text/plain': { schema: { type: 'string', pattern: '^\\S+\\n\\d+\\n' } } },
        },
      },
    },
    'GET /log/tile/{path}': {
      access: 'open',
      id: 'getLogTile',
      summary: 'A hash tile',
      description:
        'In the layout of C2SP tlog-tiles: `<level>/<index>`, or `<level>/<index>.p/<width>` for a part of a tile.',
      answers: { '200': { description: 'Hashes of 32 bytes, one after the other.', content: octets } },
    },
  },
};
