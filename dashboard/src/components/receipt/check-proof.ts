/**
 * Checks the proof of a receipt in the browser, with the browser's own cryptography: the leaf hash, the path to the root (RFC 6962) and
 * the signature of the checkpoint (C2SP signed-note, Ed25519).
 */

export interface ReceiptProof {
  receipt: string;
  leaf_hash: string;
  leaf_index: number;
  tree_size: number;
  inclusion_path: string[];
  checkpoint: string;
  verifier_key: string;
}

export interface ProofVerdict {
  /** What does not match; null where the proof holds. */
  fault: string | null;
  /** The name of the log; empty where it could not be read. */
  origin: string;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Throws `DOMException` where the browser has no Ed25519, and where the page is not served over https or from this machine. */
export async function checkProof(proof: ReceiptProof): Promise<ProofVerdict> {
  const [signed = '', signatures = ''] = proof.checkpoint.split(/\n\n/);
  const [origin = '', size = '', root = ''] = signed.split('\n');
  const fault = (text: string): ProofVerdict => ({ fault: text, origin });

  const leaf = await sha256(join(Uint8Array.of(0), utf8(proof.receipt)));
  if (base64(leaf) !== proof.leaf_hash) return fault('The leaf hash is not the one of the receipt.');
  const reached = await rootOfPath(proof, leaf);
  if (size !== String(proof.tree_size)) return fault('The tree size is not the one of the checkpoint.');
  if (reached === null || base64(reached) !== root)
    return fault('The path does not lead to the root of the checkpoint.');

  const [, name = '', id = '', data = ''] =
    /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/u.exec(proof.verifier_key) ?? [];
  const keyData = bytesOf(data);
  if (name !== origin || keyData.length !== 33 || keyData[0] !== 1) return fault('The key is not a key of this log.');
  const expected = (await sha256(join(utf8(`${name}\n`), keyData))).subarray(0, 4);
  if (hex(expected) !== id) return fault('The parts of the key do not agree.');
  const key = await crypto.subtle.importKey('raw', keyData.slice(1), 'Ed25519', false, ['verify']);
  for (const line of signatures.split('\n')) {
    const [dash, signer, value] = line.split(' ');
    const signature = bytesOf(value ?? '');
    if (dash !== '—' || signer !== name || hex(signature.subarray(0, 4)) !== id) continue;
    if (await crypto.subtle.verify('Ed25519', key, signature.slice(4), utf8(`${signed}\n`)))
      return { fault: null, origin };
  }
  return fault('The checkpoint is not signed by the key.');
}

/** null where the path has not the length that the tree asks for. */
async function rootOfPath(proof: ReceiptProof, leaf: Bytes): Promise<Bytes | null> {
  let at = proof.leaf_index;
  let last = proof.tree_size - 1;
  let hash = leaf;
  if (at < 0 || at > last) return null;
  for (const text of proof.inclusion_path) {
    if (last === 0) return null;
    const sibling = bytesOf(text);
    if (at % 2 === 1 || at === last) {
      hash = await nodeHash(sibling, hash);
      while (at % 2 === 0 && at !== 0) {
        at = Math.floor(at / 2);
        last = Math.floor(last / 2);
      }
    } else hash = await nodeHash(hash, sibling);
    at = Math.floor(at / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 ? hash : null;
}

const nodeHash = (left: Bytes, right: Bytes): Promise<Bytes> => sha256(join(Uint8Array.of(1), left, right));

async function sha256(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
}

const utf8 = (text: string): Bytes => new TextEncoder().encode(text);
const hex = (bytes: Bytes): string => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
const base64 = (bytes: Bytes): string => btoa(String.fromCharCode(...bytes));

/** Empty where the text is not base64. */
function bytesOf(text: string): Bytes {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

function join(...parts: readonly Bytes[]): Bytes {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
