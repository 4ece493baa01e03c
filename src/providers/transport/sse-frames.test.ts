import { describe, expect, it } from 'vitest';
import { forSeeds, type SeededRandom } from '../../../tests/support/seeded-random.js';
import { threadTime } from '../../../tests/support/thread-time.js';
import { frameCharactersMax, SseReader } from './sse-frames.js';

type Frame = [data: string, event: string];

function collector() {
  const frames: Frame[] = [];
  let overflows = 0;
  const reader = new SseReader({
    onFrame: (text, start, end, event) => frames.push([text.slice(start, end), event]),
    onOverflow: () => overflows++,
  });
  return { frames, reader, overflows: () => overflows };
}

function framesOf(pieces: Buffer[]): Frame[] {
  const { frames, reader } = collector();
  for (const piece of pieces) reader.read(piece);
  reader.finish();
  return frames;
}

it('gives an object without a field name as a frame, wherever it comes: some servers write their errors so', () => {
  const error = '{"error": {\n  "code": 503,\n  "message": "data: none"\n}}';
  for (const text of [
    `data: a\n\n${error}\n\n`,
    `data: a\n\n${error}`,
    `data: a\r\n\r\n${error.replaceAll('\n', '\r\n')}\r\n`,
  ]) {
    const frames = framesOf([Buffer.from(text)]);
    expect(frames.map(([data]) => data.trim().replaceAll('\r', ''))).toEqual(['a', error]);
  }
  expect(framesOf([Buffer.from('nonsense\n\nid: 4\n\n')])).toEqual([]);
});

/** The grammar of server-sent events, line by line over the whole text. */
function reference(bytes: Buffer): Frame[] {
  const frames: Frame[] = [];
  let data: string[] = [];
  let event = '';
  const dispatch = () => {
    if (data.length > 0) frames.push([data.join('\n'), event]);
    data = [];
    event = '';
  };
  const text = bytes.toString('latin1').replace(/^\u00ef\u00bb\u00bf/, '');
  for (const line of text.split(/\r\n|\r|\n/)) {
    const [, field = line, value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (line === '') dispatch();
    else if (field === 'data') data.push(value);
    else if (field === 'event') event = value;
  }
  dispatch();
  return frames;
}

const lines = [
  'data: {"a":1}',
  'data:x',
  'data:  two spaces',
  'data: é字😀',
  'data',
  'data:',
  'data: ',
  ': comment',
  ':',
  'event: ping',
  'event:e',
  'event',
  'id: 1',
  'retry: 5',
  'junk',
  'datum: no',
  ' data: no',
  'data : no',
  '',
  '',
  '',
  '',
];

function randomStream(random: SeededRandom): Buffer {
  const styles = random.pick([['\n'], ['\r\n'], ['\r'], ['\n', '\r\n'], ['\n', '\r', '\r\n']]);
  let text = random.chance(0.2) ? '\ufeff' : '';
  for (let left = random.below(14); left > 0; left--) text += random.pick(lines) + random.pick(styles);
  if (random.chance(0.3)) text += random.pick(lines);
  return Buffer.from(text);
}

describe('frames out of bytes', () => {
  it('are the same however the bytes are cut (wire pitfall 5)', () => {
    forSeeds(3_000, (random) => {
      const bytes = randomStream(random);
      const expected = reference(bytes);
      expect(framesOf([bytes]), 'whole').toEqual(expected);
      expect(framesOf(random.cuts(bytes)), 'in pieces').toEqual(expected);
      expect(framesOf(Array.from(bytes, (byte) => Buffer.from([byte]))), 'byte by byte').toEqual(expected);
    });
  });

  it.each(['\n', '\r\n', '\r'])(
    'are given as soon as their blank line is there, not with the next frame (%j)',
    (end) => {
      const { frames, reader } = collector();
      for (const byte of Buffer.from(`data: one${end}${end}`)) reader.read(Buffer.from([byte]));
      expect(frames).toEqual([['one', '']]);
      reader.read(Buffer.from(`data: two${end}${end}`));
      expect(frames).toEqual([
        ['one', ''],
        ['two', ''],
      ]);
    },
  );

  it('keep a character that was split over packets', () => {
    const bytes = Buffer.from('data: 😀字é\n\n');
    for (let at = 0; at <= bytes.length; at++) {
      const [[data] = ['']] = framesOf([bytes.subarray(0, at), bytes.subarray(at)]);
      expect(Buffer.from(data, 'latin1').toString()).toBe('😀字é');
    }
  });

  it('take a byte-order mark off the start only', () => {
    expect(framesOf([Buffer.from('\ufeffdata: a\n\ndata: \ufeffb\n\n')])).toEqual([
      ['a', ''],
      [Buffer.from('\ufeffb').toString('latin1'), ''],
    ]);
  });

  it('end with the last event, blank line or not', () => {
    expect(framesOf([Buffer.from('data: a\n\ndata: [DONE]')]).map(([data]) => data)).toEqual(['a', '[DONE]']);
    expect(framesOf([Buffer.from('data: a\r')])).toEqual([['a', '']]);
    expect(framesOf([])).toEqual([]);
  });

  it('stop when the consumer has had enough, whatever still comes', () => {
    const frames: string[] = [];
    const reader: SseReader = new SseReader({
      onFrame: (text, start, end) => {
        frames.push(text.slice(start, end));
        reader.stopped = true;
      },
      onOverflow: () => frames.push('overflow'),
    });
    reader.read(Buffer.from('data: one\n\ndata: two\n\ndata: thr'));
    for (let i = 0; i < 20; i++) reader.read(Buffer.alloc(1024 * 1024, 'x\r'));
    reader.finish();
    expect(frames).toEqual(['one']);
  });
});

describe('a frame that never ends', () => {
  it('is reported once, and nothing of it or after it is given', () => {
    const { frames, reader, overflows } = collector();
    reader.read(Buffer.from('data: before\n\ndata: '));
    const piece = Buffer.alloc(1024 * 1024, 'x');
    for (let given = 0; given <= 3 * frameCharactersMax; given += piece.length) reader.read(piece);
    reader.read(Buffer.from('\n\ndata: after\n\n'));
    reader.finish();
    expect(overflows()).toBe(1);
    expect(frames).toEqual([['before', '']]);
  });

  it.each([
    ['one line', (text: string) => `data: ${text}\n\n`],
    ['many lines', (text: string) => `data: ${text.replace(/(.{100})/g, '$1\ndata: ')}\r\n\r\n`],
    ['many lines that end in CR', (text: string) => `data: ${text.replace(/(.{100})/g, '$1\rdata: ')}\r\r`],
  ])('costs by its bytes: 8 MB in pieces of 1 KB, %s', (_, frameOf) => {
    const bytes = Buffer.from(frameOf('x'.repeat(8 * 1024 * 1024)));
    const { frames, reader } = collector();
    const started = threadTime().ranMs;
    for (let at = 0; at < bytes.length; at += 1024) reader.read(bytes.subarray(at, at + 1024));
    reader.finish();
    expect(threadTime().ranMs - started).toBeLessThan(5_000);
    expect(frames).toHaveLength(1);
    expect(frames[0]![0].replaceAll('\n', '').length).toBe(8 * 1024 * 1024);
  });
});
