/**
 * A catalogue as one signed file: a signed note, an empty line, and the values of the catalogue's files as JSON, compressed with gzip. The
 * note names the version, and the SHA-256 and the length of the compressed bytes.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzipSync } from 'node:zlib';
import { type CatalogueUpdate, type CatalogueValues, UpdateRefused, versionDayMs } from '../catalogue/update.js';
import { bytesTooDeep } from '../wire/json-text.js';
import { isSignedBy, readNote, type SignerKey, signNote, type VerifierKey } from './note.js';

const format = 'lodestone-catalogue/1';
/** Ten times what the built-in catalogue takes, and as base64 less than a body of the admin API may have. */
export const fileBytesMax = 160 * 1024;
const valuesBytesMax = 1024 * 1024;
const noteBytesMax = 8 * 1024;
const fileNameForm = /^[a-z][a-z0-9-]{0,63}(\/[a-z][a-z0-9-]{0,63})?\.yaml$/;

const unzip = promisify(gunzip);

export interface SignedCatalogue extends CatalogueUpdate {
  readonly note: string;
  /** The compressed values. */
  readonly body: Buffer;
}

export function packCatalogue({ version, values }: CatalogueUpdate, signer: SignerKey): Buffer {
  const body = compressValues(values);
  const text = `${format}\n${version}\n${digestOf(body)} ${body.length}\n`;
  const file = Buffer.concat([Buffer.from(`${signNote(text, [signer])}\n`), body]);
  if (file.length > fileBytesMax) throw new UpdateRefused(`The file would have ${file.length} bytes; ${sizeRule}.`);
  return file;
}

export function compressValues(values: CatalogueValues): Buffer {
  return gzipSync(JSON.stringify(values), { level: 9 });
}

const sizeRule = `at most ${fileBytesMax} bytes are read`;
const againText = 'Get the file again from where it is published';
const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('base64');

/** Reads a file that one of the keys has signed. Nothing is decompressed before its signature and its digest hold. */
export async function readSignedCatalogue(file: Buffer, keys: readonly VerifierKey[]): Promise<SignedCatalogue> {
  if (keys.length === 0)
    throw new UpdateRefused('This gateway has no key to check updates with. Set `catalogue_updates.key`, and restart.');
  if (file.length > fileBytesMax) throw new UpdateRefused(`The file has ${file.length} bytes; ${sizeRule}.`);
  const { note, body } = partsOf(file);
  const signed = readNote(note);
  const [form, version = '', content = '', end, ...more] = signed?.text.split('\n') ?? [];
  if (!signed || form !== format) throw notACatalogue();
  if (!keys.some((key) => isSignedBy(signed, key))) {
    const names = [...new Set(signed.signatures.map(({ name }) => name))].join(', ').slice(0, 200);
    throw new UpdateRefused(
      `No key of \`catalogue_updates.key\` has signed the file (it names: ${names}). ${againText}, or correct the key.`,
    );
  }
  const [, digest, length] = /^([A-Za-z0-9+/=]+) (\d{1,9})$/.exec(content) ?? [];
  if (versionDayMs(version) === undefined || digest === undefined || end !== '' || more.length > 0)
    throw notACatalogue();
  if (body.length !== Number(length))
    throw new UpdateRefused(`The file has ${body.length} bytes of catalogue, and should have ${length}. ${againText}.`);
  if (digestOf(body) !== digest)
    throw new UpdateRefused(`The catalogue in the file is not the one that was signed. ${againText}.`);
  return { version, note, body, values: await readValues(body) };
}

/** The note ends with the second empty line. */
function partsOf(file: Buffer): { note: string; body: Buffer } {
  const head = file.subarray(0, noteBytesMax);
  const textEnd = head.indexOf('\n\n');
  const noteEnd = textEnd < 0 ? -1 : head.indexOf('\n\n', textEnd + 2);
  if (noteEnd < 0) throw notACatalogue();
  return { note: head.subarray(0, noteEnd + 1).toString('utf8'), body: file.subarray(noteEnd + 2) };
}

export async function readValues(body: Buffer): Promise<CatalogueValues> {
  const bytes = await unzip(body, { maxOutputLength: valuesBytesMax }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_BUFFER_TOO_LARGE') throw notACatalogue();
    throw new UpdateRefused(`The catalogue in the file has more than ${valuesBytesMax} bytes.`);
  });
  if (bytesTooDeep(bytes)) throw notACatalogue();
  try {
    const values = JSON.parse(bytes.toString('utf8')) as CatalogueValues | null;
    const names = Object.keys(values ?? {});
    if (names.length > 0 && names.every((name) => fileNameForm.test(name))) return values!;
  } catch {
    // Said below.
  }
  throw notACatalogue();
}

function notACatalogue(): UpdateRefused {
  return new UpdateRefused(
    'The file is not a catalogue that `lodestone catalogue pack` has made, or it is cut or damaged. ' +
      `${againText}, and look whether this version of the gateway reads its form (${format}).`,
  );
}
