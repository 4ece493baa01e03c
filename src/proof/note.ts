/** Signed notes as C2SP signed-note defines them, with Ed25519 keys: a text, an empty line, and a line for each signature. */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, randomBytes, sign, verify } from 'node:crypto';

const ed25519 = 1;
const keyBytes = 32;
const idBytes = 4;
const signaturePrefix = '\u2014 ';

/** The beginnings of an Ed25519 key in PKCS #8 and SubjectPublicKeyInfo; the rest is the key itself. */
const privateStart = Buffer.from('302e020100300506032b657004220420', 'hex');
const publicStart = Buffer.from('302a300506032b6570032100', 'hex');

export interface VerifierKey {
  readonly name: string;
  /** As C2SP writes it: `<name>+<hash>+<base64 key>`. */
  readonly text: string;
  readonly id: Buffer;
  readonly key: KeyObject;
}

export interface SignerKey {
  readonly verifier: VerifierKey;
  /** As Go's `note` package writes it: `PRIVATE+KEY+<name>+<hash>+<base64 seed>`. */
  readonly text: string;
  readonly seed: Buffer;
  readonly key: KeyObject;
}

/** What a key's name must not have: it stands in lines of words, and in texts with plus signs. */
const keyNameForm = /^[^\s+]+$/u;

export const isKeyName = (name: string): boolean => keyNameForm.test(name);

function verifierOf(name: string, publicBytes: Buffer): VerifierKey {
  const data = Buffer.concat([Buffer.of(ed25519), publicBytes]);
  const id = createHash('sha256').update(`${name}\n`).update(data).digest().subarray(0, idBytes);
  const key = createPublicKey({ key: Buffer.concat([publicStart, publicBytes]), format: 'der', type: 'spki' });
  return { name, text: `${name}+${id.toString('hex')}+${data.toString('base64')}`, id, key };
}

export function signerOf(name: string, seed: Buffer): SignerKey {
  if (!isKeyName(name)) throw new TypeError(`"${name}" cannot be the name of a key.`);
  const key = createPrivateKey({ key: Buffer.concat([privateStart, seed]), format: 'der', type: 'pkcs8' });
  const publicBytes = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(publicStart.length);
  const verifier = verifierOf(name, publicBytes);
  const data = Buffer.concat([Buffer.of(ed25519), seed]).toString('base64');
  return { verifier, text: `PRIVATE+KEY+${name}+${verifier.id.toString('hex')}+${data}`, seed, key };
}

export function newSigner(name: string): SignerKey {
  return signerOf(name, randomBytes(keyBytes));
}

function keyData(text: string): Buffer | null {
  const data = Buffer.from(text, 'base64');
  return data.length === keyBytes + 1 && data[0] === ed25519 && data.toString('base64') === text
    ? data.subarray(1)
    : null;
}

/** null where the text is no key of this form, or its parts do not agree. */
export function readVerifierKey(text: string): VerifierKey | null {
  const [, name = '', , data = ''] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/u.exec(text) ?? [];
  const bytes = keyData(data);
  if (name === '' || bytes === null) return null;
  const key = verifierOf(name, bytes);
  return key.text === text ? key : null;
}

/** null where the text is no key of this form, or its parts do not agree. */
export function readSignerKey(text: string): SignerKey | null {
  const [, name = '', , data = ''] = /^PRIVATE\+KEY\+([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/u.exec(text) ?? [];
  const seed = keyData(data);
  if (name === '' || seed === null) return null;
  const signer = signerOf(name, seed);
  return signer.text === text ? signer : null;
}

/** `text` ends with a line end. */
export function signNote(text: string, signers: readonly SignerKey[]): string {
  const bytes = Buffer.from(text, 'utf8');
  const lines = signers.map(({ verifier, key }) => {
    const signature = Buffer.concat([verifier.id, sign(null, bytes, key)]);
    return `${signaturePrefix}${verifier.name} ${signature.toString('base64')}\n`;
  });
  return `${text}\n${lines.join('')}`;
}

interface ReadNote {
  /** What was signed. */
  readonly text: string;
  readonly signatures: readonly { readonly name: string; readonly id: Buffer; readonly signature: Buffer }[];
}

/** null where it is not a signed note. */
export function readNote(note: string): ReadNote | null {
  const end = note.lastIndexOf('\n\n');
  if (end === -1 || !note.endsWith('\n')) return null;
  const lines = note.slice(end + 2, -1).split('\n');
  const signatures = lines.map((line) => {
    const [, name = '', data = ''] = /^\u2014 ([^\s+]+) ([A-Za-z0-9+/=]+)$/u.exec(line) ?? [];
    const bytes = Buffer.from(data, 'base64');
    const isWhole = name !== '' && bytes.length > idBytes && bytes.toString('base64') === data;
    return isWhole ? { name, id: bytes.subarray(0, idBytes), signature: bytes.subarray(idBytes) } : null;
  });
  const whole = signatures.filter((signature) => signature !== null);
  return whole.length === lines.length ? { text: note.slice(0, end + 1), signatures: whole } : null;
}

/** Whether one of the signatures is a valid one of this key. */
export function isSignedBy({ text, signatures }: ReadNote, { name, id, key }: VerifierKey): boolean {
  const bytes = Buffer.from(text, 'utf8');
  return signatures.some(
    (line) => line.name === name && line.id.equals(id) && verify(null, bytes, key, line.signature),
  );
}
