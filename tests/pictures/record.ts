/** What is kept of each picture of the documentation beside its file, and what a picture must not show. */
import { createHash } from 'node:crypto';

export interface Shown {
  /** What the page announces as an error (`role="alert"`), as far as it is visible. */
  alerts: string[];
  /** The text within the window, block by block. */
  text: string[];
}

export interface PictureRecord extends Shown {
  /** In docs/images. */
  file: string;
  /** Below /dashboard. */
  page: string;
  /** The words under which the README shows it. */
  caption: string;
  /** What the caption promises: each is a part of the text. */
  shows: string[];
  bytes: number;
  sha256: string;
}

export const recordFile = 'docs/images/pictures.json';
export const bytesMax = 200_000;

export const filmFile = 'docs/images/failover.webp';
export const filmCaption =
  'Failover: the first route is out of capacity, the next one answers, and the receipt shows both attempts';
export const filmBytesMax = 3_000_000;

/** An error as the pages and the gateway's messages word it, wherever it stands. */
const errorText =
  /\bHTTP [45]\d\d\b|insufficient|went wrong|could not be|cannot be (loaded|read|reached|shown)|is exhausted|try again|refused/i;

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Why what a page shows is no picture for the documentation; empty where it is one. */
export function shownFaults({ alerts, text, shows }: Pick<PictureRecord, 'alerts' | 'text' | 'shows'>): string[] {
  const all = text.join('\n');
  return [
    ...alerts.map((alert) => `shows an error: ${alert}`),
    ...text.filter((line) => errorText.test(line)).map((line) => `shows an error: ${line}`),
    ...shows.filter((part) => !all.includes(part)).map((part) => `does not show "${part}"`),
  ];
}

/** Why the record and the files differ; `files` are all pictures of docs/images with their bytes. */
export function recordFaults(records: readonly PictureRecord[], files: ReadonlyMap<string, Uint8Array>): string[] {
  const known = new Set(records.map(({ file }) => file));
  return [
    ...[...files.keys()].filter((file) => !known.has(file)).map((file) => `${file}: no record; run "npm run pictures"`),
    ...records.flatMap((record) => {
      const bytes = files.get(record.file);
      if (!bytes) return [`${record.file}: is missing`];
      const faults = shownFaults(record);
      if (hashOf(bytes) !== record.sha256) faults.push('is not the picture that was recorded; run "npm run pictures"');
      if (bytes.length > bytesMax) faults.push(`has ${bytes.length} bytes, more than ${bytesMax}`);
      return faults.map((fault) => `${record.file}: ${fault}`);
    }),
  ];
}
