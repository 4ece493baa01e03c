/** Checks the proof of a receipt offline: everything that is in it, and the bytes of request and answer where they are given. */
import { createHash } from 'node:crypto';
import { readCheckpoint } from './checkpoint.js';
import { hashBytes, leafHash, rootOfPath } from './merkle.js';
import { isSignedBy, readNote, readVerifierKey, type VerifierKey } from './note.js';

/** As `GET /v1/generation/{id}/proof` answers it. */
export interface ReceiptProof {
  readonly object: 'receipt_proof';
  /** Canonical JSON, as text. */
  readonly receipt: string;
  /** base64. */
  readonly leaf_hash: string;
  readonly leaf_index: number;
  readonly tree_size: number;
  /** base64, from the leaf to the root. */
  readonly inclusion_path: readonly string[];
  /** A signed note. */
  readonly checkpoint: string;
  readonly verifier_key: string;
}

interface ProofEvidence {
  readonly request?: Uint8Array | undefined;
  readonly answer?: Uint8Array | undefined;
  /** The key that the reader trusts; without it the proof's own is used. */
  readonly key?: VerifierKey | undefined;
}

export interface ProofVerdict {
  /** What was found to be right, in words. */
  readonly checked: readonly string[];
  /** What does not match; empty where the proof holds. */
  readonly faults: readonly string[];
}

export function checkProof(value: unknown, evidence: ProofEvidence = {}): ProofVerdict {
  const proof = proofOf(value);
  if (typeof proof === 'string') return { checked: [], faults: [proof] };
  const verdict = { checked: [] as string[], faults: [] as string[] };
  const expect = (holds: boolean, right: string, wrong: string): boolean => {
    if (holds) verdict.checked.push(right);
    else verdict.faults.push(wrong);
    return holds;
  };
  const receipt = receiptFields(proof.receipt);
  if (receipt === null) return { ...verdict, faults: ['The receipt is not a JSON object.'] };

  const leaf = leafHash(proof.receipt);
  expect(
    hashOf(proof.leaf_hash)?.equals(leaf) === true,
    `The leaf hash is that of the receipt of ${receipt.generation}.`,
    `The leaf hash does not match the receipt: it should be ${leaf.toString('base64')}.`,
  );
  checkCheckpoint(proof, { receipt, leaf, key: evidence.key }, expect);
  for (const name of ['request', 'answer'] as const) {
    const bytes = evidence[name];
    if (!bytes) continue;
    const recorded = receipt[`${name}_sha256`];
    const found = createHash('sha256').update(bytes).digest('hex');
    expect(
      recorded === found,
      `The ${name} is the one that the receipt is about (SHA-256 ${found}).`,
      typeof recorded === 'string'
        ? `The ${name} does not match: its SHA-256 is ${found}, the receipt has ${recorded}.`
        : `The receipt has no hash of the ${name}, so it says nothing about this file.`,
    );
  }
  return verdict;
}

type Expect = (holds: boolean, right: string, wrong: string) => boolean;

interface Claims {
  readonly receipt: Record<string, unknown>;
  readonly leaf: Buffer;
  readonly key: VerifierKey | undefined;
}

function checkCheckpoint(proof: ReceiptProof, { receipt, leaf, key: trusted }: Claims, expect: Expect): void {
  const own = readVerifierKey(proof.verifier_key);
  if (!own) return void expect(false, '', 'The verifier key of the proof is not a valid key.');
  if (trusted && trusted.text !== own.text)
    return void expect(false, '', `The proof names another key than the one given: ${own.text}.`);
  const note = readNote(proof.checkpoint);
  const checkpoint = note && readCheckpoint(note.text);
  if (!note || !checkpoint) return void expect(false, '', 'The checkpoint is not a signed checkpoint of a log.');
  expect(
    isSignedBy(note, own),
    `The checkpoint of ${checkpoint.origin} at size ${checkpoint.size} is signed by the key ${own.text}.`,
    `The signature of the checkpoint is not one of the key ${own.text}.`,
  );
  expect(
    own.name === checkpoint.origin && receipt.gateway === checkpoint.origin,
    'Key, checkpoint and receipt name the same log.',
    `Key, checkpoint and receipt name different logs: ${own.name}, ${checkpoint.origin}, ${String(receipt.gateway)}.`,
  );
  if (proof.tree_size !== checkpoint.size)
    return void expect(false, '', `The tree size is ${proof.tree_size}, the checkpoint has ${checkpoint.size}.`);
  const path = proof.inclusion_path.map(hashOf);
  const whole = path.filter((hash) => hash !== null);
  const root =
    whole.length === path.length
      ? rootOfPath({ leafIndex: proof.leaf_index, treeSize: proof.tree_size, leaf, path: whole })
      : null;
  expect(
    root?.equals(checkpoint.root) === true,
    `The receipt is leaf ${proof.leaf_index} of the tree that the checkpoint signs.`,
    root === null
      ? `The inclusion path is not one of leaf ${proof.leaf_index} in a tree of ${proof.tree_size}.`
      : `The inclusion path does not lead to the root of the checkpoint: it leads to ${root.toString('base64')}.`,
  );
}

/** A text says what is wrong. */
function proofOf(value: unknown): ReceiptProof | string {
  if (typeof value !== 'object' || value === null) return 'The proof is not a JSON object.';
  const proof = value as Partial<Record<keyof ReceiptProof, unknown>>;
  if (proof.object !== 'receipt_proof') return 'The proof is not an object of the kind "receipt_proof".';
  for (const name of ['receipt', 'leaf_hash', 'checkpoint', 'verifier_key'] as const)
    if (typeof proof[name] !== 'string') return `"${name}" is not a text.`;
  for (const name of ['leaf_index', 'tree_size'] as const)
    if (!Number.isSafeInteger(proof[name]) || (proof[name] as number) < 0) return `"${name}" is not a whole number.`;
  const path = proof.inclusion_path;
  if (!Array.isArray(path) || path.some((hash) => typeof hash !== 'string'))
    return '"inclusion_path" is not a list of texts.';
  return value as ReceiptProof;
}

function receiptFields(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

function hashOf(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === hashBytes && bytes.toString('base64') === text ? bytes : null;
}
