import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { expect, it } from 'vitest';
import { checkProof, type ReceiptProof } from './check-proof.js';

const sha = (...parts: (Uint8Array | string)[]) =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();
const leafOf = (text: string) => sha(Uint8Array.of(0), text);
const nodeOf = (left: Uint8Array, right: Uint8Array) => sha(Uint8Array.of(1), left, right);

/** The proof of the second of three receipts, made by hand. */
function aProof(): ReceiptProof {
  const origin = 'llm.example.com/log';
  const [a, b, c] = ['{"n":1}', '{"n":2}', '{"n":3}'].map(leafOf) as [Buffer, Buffer, Buffer];
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const data = Buffer.concat([Uint8Array.of(1), publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)]);
  const id = sha(`${origin}\n`, data).subarray(0, 4);
  const text = `${origin}\n3\n${nodeOf(nodeOf(a, b), c).toString('base64')}\n`;
  const signature = Buffer.concat([id, sign(null, Buffer.from(text), privateKey)]).toString('base64');
  return {
    receipt: '{"n":2}',
    leaf_hash: b.toString('base64'),
    leaf_index: 1,
    tree_size: 3,
    inclusion_path: [a.toString('base64'), c.toString('base64')],
    checkpoint: `${text}\n— ${origin} ${signature}\n`,
    verifier_key: `${origin}+${id.toString('hex')}+${data.toString('base64')}`,
  };
}

it('takes a proof that holds', async () => {
  expect(await checkProof(aProof())).toEqual({ fault: null, origin: 'llm.example.com/log' });
});

it.each<[string, (proof: ReceiptProof) => void]>([
  ['receipt', (proof) => (proof.receipt = '{"n":4}')],
  ['leaf hash', (proof) => (proof.leaf_hash = proof.inclusion_path[0]!)],
  ['index', (proof) => (proof.leaf_index = 0)],
  ['size', (proof) => (proof.tree_size = 4)],
  ['path', (proof) => proof.inclusion_path.reverse()],
  ['length of the path', (proof) => proof.inclusion_path.pop()],
  ['root', (proof) => (proof.checkpoint = proof.checkpoint.replace('\n3\n', '\n03\n'))],
  // One signature in sixteen ends in an A already.
  [
    'signature',
    (proof) => (proof.checkpoint = proof.checkpoint.replace(/.=\n$/, (end) => (end[0] === 'A' ? 'E=\n' : 'A=\n'))),
  ],
  ['key', (proof) => (proof.verifier_key = aProof().verifier_key)],
  ['name of the key', (proof) => (proof.verifier_key = `other${proof.verifier_key}`)],
])('refuses a tampered %s', async (_, tamper) => {
  const proof = aProof();
  tamper(proof);
  expect((await checkProof(proof)).fault).toBeTypeOf('string');
});
