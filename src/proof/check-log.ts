/** Checks a whole log from its public parts: every tile against the signed checkpoint, and an earlier checkpoint against the tree. */
import type { AuditExport } from './check-audit.js';
import { type Checkpoint, readCheckpoint } from './checkpoint.js';
import { hashBytes, rootOf } from './merkle.js';
import { isSignedBy, readNote, readVerifierKey, type VerifierKey } from './note.js';
import { hashesIn, rootAt, type TilePlace, type TileRequest, tilePath, tileWidth, widthIn } from './tiles.js';

export interface LogSource {
  /** `/.well-known/lodestone/log`. */
  description(): Promise<unknown>;
  checkpoint(): Promise<string>;
  tile(place: TileRequest): Promise<Buffer>;
}

interface LogVerdict {
  readonly checked: readonly string[];
  readonly faults: readonly string[];
  /** The checkpoint that was checked, as it is signed. */
  readonly checkpoint: string | null;
  /** Why the log was not compared with the earlier checkpoint although one was given; null where it was. Says nothing about the log. */
  readonly notCompared: string | null;
}

class LogFault extends Error {}
/** The earlier checkpoint is of no use. */
class SinceFault extends Error {}

/** `audit` is an export of the audit log, which is compared with the leaves. */
export async function verifyLog(
  source: LogSource,
  since: string | null,
  audit: AuditExport | null = null,
): Promise<LogVerdict> {
  const checked: string[] = [];
  let note: string | null = null;
  try {
    const { origin, keys } = descriptionOf(await source.description());
    note = await source.checkpoint();
    const checkpoint = signedCheckpoint(note, keys, 'The checkpoint');
    if (checkpoint.origin !== origin)
      throw new LogFault(`The checkpoint is of ${checkpoint.origin}, the gateway names its log ${origin}.`);
    checked.push(`The checkpoint of ${origin} at size ${checkpoint.size} is signed by a key of the log.`);
    const read = await readTree(source, checkpoint.size);
    const root = await rootAt(read, checkpoint.size);
    if (!root.equals(checkpoint.root))
      throw new LogFault(`The tiles lead to the root ${root.toString('base64')}, the checkpoint has another one.`);
    checked.push(`All ${checkpoint.size} leaves are in the tree that the checkpoint signs.`);
    const faults: string[] = [];
    if (audit !== null) {
      await showLeaves(read, checkpoint.size, (hash) => audit.see(hash));
      const verdict = audit.verdict(origin);
      checked.push(...verdict.checked);
      faults.push(...verdict.faults);
    }
    if (since !== null) checked.push(await checkSince(since, { keys, checkpoint, read }));
    return { checked, faults, checkpoint: note, notCompared: null };
  } catch (error) {
    if (error instanceof SinceFault) return { checked, faults: [], checkpoint: note, notCompared: error.message };
    if (!(error instanceof LogFault)) throw error;
    return { checked, faults: [error.message], checkpoint: note, notCompared: null };
  }
}

type ReadChecked = (place: TilePlace) => Promise<Buffer>;

/** Reads every tile. Those of higher levels have to be the roots of the tiles below them. */
async function readTree(source: LogSource, size: number): Promise<ReadChecked> {
  const tiles = new Map<string, Buffer>();
  let below: Buffer[] = [];
  for (let level = 0; level === 0 || below.length > 0; level++) {
    const roots: Buffer[] = [];
    for (let index = 0; widthIn(size, { level, index }) > 0; index++) {
      const width = widthIn(size, { level, index });
      const place = { level, index, width };
      const tile = await source.tile(place);
      if (tile.length !== width * hashBytes)
        throw new LogFault(`The tile ${tilePath(place)} has ${tile.length} bytes instead of ${width * hashBytes}.`);
      const expected = below.slice(index * tileWidth, index * tileWidth + width);
      if (level > 0 && !Buffer.concat(expected).equals(tile))
        throw new LogFault(`The tile ${tilePath(place)} does not match the tiles below it.`);
      tiles.set(`${level}/${index}`, tile);
      if (width === tileWidth) roots.push(rootOf(hashesIn(tile)));
    }
    below = roots;
  }
  return async ({ level, index }) => tiles.get(`${level}/${index}`) ?? Buffer.alloc(0);
}

async function showLeaves(read: ReadChecked, size: number, see: (hash: string) => void): Promise<void> {
  for (let index = 0; widthIn(size, { level: 0, index }) > 0; index++)
    for (const leaf of hashesIn(await read({ level: 0, index }))) see(leaf.toString('latin1'));
}

interface Verified {
  readonly keys: readonly VerifierKey[];
  readonly checkpoint: Checkpoint;
  readonly read: ReadChecked;
}

async function checkSince(since: string, { keys, checkpoint, read }: Verified): Promise<string> {
  const claimed = readCheckpoint(readNote(since)?.text ?? '');
  if (!claimed) throw new SinceFault('The --since file is not a checkpoint. The log was not compared.');
  if (claimed.origin !== checkpoint.origin)
    throw new SinceFault(
      `The --since file is a checkpoint of another log, ${claimed.origin}. The log was not compared.`,
    );
  const earlier = signedCheckpoint(since, keys, 'The earlier checkpoint');
  if (earlier.size > checkpoint.size)
    throw new LogFault(`The log has shrunk: it had ${earlier.size} leaves, and has ${checkpoint.size}.`);
  const root = await rootAt(read, earlier.size);
  if (!root.equals(earlier.root))
    throw new LogFault(
      `The log was rewritten: its first ${earlier.size} leaves are not those of the earlier checkpoint.`,
    );
  return `Nothing was rewritten since the earlier checkpoint at size ${earlier.size}.`;
}

function signedCheckpoint(text: string, keys: readonly VerifierKey[], what: string): Checkpoint {
  const note = readNote(text);
  const checkpoint = note && readCheckpoint(note.text);
  if (!note || !checkpoint) throw new LogFault(`${what} is not a signed checkpoint.`);
  if (!keys.some((key) => isSignedBy(note, key)))
    throw new LogFault(`${what} has no valid signature of a key that the gateway lists.`);
  return checkpoint;
}

function descriptionOf(value: unknown): { origin: string; keys: VerifierKey[] } {
  const { origin, keys } = (value ?? {}) as { origin?: unknown; keys?: unknown };
  if (typeof origin !== 'string' || !Array.isArray(keys))
    throw new LogFault('The description of the log has no origin and keys.');
  const read = keys.map((key) => readVerifierKey(String((key as { verifier_key?: unknown }).verifier_key)));
  const valid = read.filter((key) => key !== null);
  if (valid.length !== read.length) throw new LogFault('The description of the log has a key that is not valid.');
  return { origin, keys: valid };
}
