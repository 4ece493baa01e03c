/** The size and root of a log in the text of C2SP tlog-checkpoint: three lines. */
import { hashBytes } from './merkle.js';

export interface Checkpoint {
  readonly origin: string;
  readonly size: number;
  readonly root: Buffer;
}

export function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${root.toString('base64')}\n`;
}

/** Reads the text of a note. Further lines are extensions, which this log does not use. null where it is no checkpoint. */
export function readCheckpoint(text: string): Checkpoint | null {
  const [origin = '', size = '', hash = '', ...rest] = text.split('\n');
  const root = Buffer.from(hash, 'base64');
  const isWhole = origin !== '' && /^(0|[1-9]\d{0,15})$/.test(size) && rest.at(-1) === '';
  if (!isWhole || root.length !== hashBytes || root.toString('base64') !== hash) return null;
  return { origin, size: Number(size), root };
}
