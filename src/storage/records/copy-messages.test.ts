import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { takeMessages } from './copy-messages.js';

function message(type: string, body: string): Buffer {
  const header = Buffer.alloc(5);
  header.write(type);
  header.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([header, Buffer.from(body)]);
}

const rows = ['first', '', 'a row that is longer than the others'];
const sent = Buffer.concat([
  ...[message('H', 'x'), ...rows.map((row) => message('d', row)), message('c', ''), message('Z', 'I')],
  message('N', 'late'),
]);

/** What was taken, and what the driver got, where the bytes come in these chunks. */
function splitAt(...places: number[]) {
  const stream = new PassThrough();
  const driver: Buffer[] = [];
  stream.on('data', (bytes: Buffer) => {
    driver.push(Buffer.from(bytes));
    if (bytes[0] === 'Z'.charCodeAt(0)) release();
  });
  const taken: string[] = [];
  const release = takeMessages(stream, (bytes, from, to) => taken.push(bytes.toString('latin1', from, to)));
  const ends = [...places, sent.length];
  for (const [i, end] of ends.entries()) stream.emit('data', Buffer.from(sent.subarray(ends[i - 1] ?? 0, end)));
  return { taken, driver: Buffer.concat(driver), listeners: stream.listenerCount('data') };
}

it('takes the rows and gives the driver all other messages, wherever the chunks end', () => {
  const driver = Buffer.concat([message('H', 'x'), message('c', ''), message('Z', 'I'), message('N', 'late')]);
  const expected = { taken: rows, driver, listeners: 1 };
  expect(splitAt()).toEqual(expected);
  for (let first = 0; first <= sent.length; first++)
    for (let second = first; second <= Math.min(first + 7, sent.length); second++)
      expect(splitAt(first, second), `chunks that end at ${first} and ${second}`).toEqual(expected);
  expect(splitAt(...Array.from({ length: sent.length }, (_, i) => i))).toEqual(expected);
});

it('ends a connection that sends no messages', () => {
  const stream = new PassThrough();
  stream.on('error', () => {});
  takeMessages(stream, () => {});
  stream.emit('data', Buffer.alloc(16));
  expect(stream.destroyed).toBe(true);
});
