/** The pictures of the README: taken by `npm run pictures`, as recorded, under the captions they were taken for, and without an error. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  bytesMax,
  filmBytesMax,
  filmCaption,
  filmFile,
  hashOf,
  type PictureRecord,
  recordFaults,
  recordFile,
  shownFaults,
} from '../pictures/record.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'docs/images');
const names = readdirSync(folder).filter((name) => name.endsWith('.jpg'));
const files = new Map(names.map((name) => [name, new Uint8Array(readFileSync(join(folder, name)))]));
const records = JSON.parse(readFileSync(join(root, recordFile), 'utf8')) as PictureRecord[];

describe('the pictures', () => {
  it('are what was recorded, small, and show no error but what their captions promise', () => {
    expect(records.length).toBeGreaterThan(0);
    expect(recordFaults(records, files)).toEqual([]);
  });

  it('stand in the README under the captions they were taken for', () => {
    const shown = [
      ...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/!\[([^\]]*)\]\(docs\/images\/([^)]+\.jpg)\)/g),
    ];
    const inReadme = shown.map(([, caption, file]) => ({ file, caption }));
    expect(inReadme).toHaveLength(records.length);
    expect(inReadme).toEqual(expect.arrayContaining(records.map(({ file, caption }) => ({ file, caption }))));
  });
});

describe('the film', () => {
  it('is an animated WebP under 3 MB, and stands in the README under the caption it was made for', () => {
    const film = readFileSync(join(root, filmFile));
    expect(film.length).toBeLessThan(filmBytesMax);
    expect([film.toString('latin1', 0, 4), film.toString('latin1', 8, 16)]).toEqual(['RIFF', 'WEBPVP8X']);
    expect(film.indexOf('ANMF')).toBeGreaterThan(0);
    expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain(`![${filmCaption}](${filmFile})`);
  });
});

describe('the check of a picture', () => {
  const bytes = new Uint8Array([1, 2, 3]);
  const sound: PictureRecord = {
    ...{ file: 'a.jpg', page: '/playground', caption: 'Playground: an answer', shows: ['Cost'] },
    ...{ alerts: [], text: ['Playground', 'Cost', '$0.0001'], bytes: 3, sha256: hashOf(bytes) },
  };
  const faultsOf = (change: Partial<PictureRecord>, held = bytes) =>
    recordFaults([{ ...sound, ...change }], new Map([['a.jpg', held]]));

  it('passes a sound one', () => expect(faultsOf({})).toEqual([]));

  it.each([
    ['an alert', { alerts: ['Your credit is used up.'] }, 'shows an error: Your credit is used up.'],
    ['an error of the gateway', { text: ['Cost', 'HTTP 402 · insufficient_credits'] }, 'shows an error: HTTP 402'],
    ['a page that did not load', { text: ['Cost', 'Something went wrong'] }, 'shows an error: Something'],
    ['a caption that promises more', { shows: ['Cost', 'Receipt'] }, 'does not show "Receipt"'],
    ['another picture than was recorded', { sha256: 'other' }, 'is not the picture'],
  ])('fails for %s', (_, change, text) => {
    expect(faultsOf(change)).toEqual([expect.stringContaining(`a.jpg: ${text}`)]);
  });

  it('fails for a picture without a record, a record without a picture, and a large one', () => {
    expect(recordFaults([], new Map([['a.jpg', bytes]]))).toEqual([expect.stringContaining('no record')]);
    expect(recordFaults([sound], new Map())).toEqual(['a.jpg: is missing']);
    const large = new Uint8Array(bytesMax + 1);
    expect(faultsOf({ sha256: hashOf(large) }, large)).toEqual([expect.stringContaining('bytes, more than')]);
    expect(shownFaults(sound)).toEqual([]);
  });
});
