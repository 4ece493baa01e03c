/**
 * JSON values of a given size in the shapes that are dear to read: in one long piece, in millions of tiny ones, in as many as the gateway
 * still reads, or nested deeply. Each is made when it is asked for, as latin1 text.
 */

/** A little less than what is read: 400,000 values and 10,000 names of an answer, 500,000 and 50,000 of a request. */
const readValues = 390_000;
const readNames = { answer: 9_900, request: 49_000 };
/** As large bodies, they have the most texts that are set aside, those of more than 512 bytes. */
const readParts = 59_000;

const shapes = {
  'one long text': (bytes) => `"${'x'.repeat(bytes)}"`,
  'one text of escapes': (bytes) => `"${repeated('\\u00e9', bytes)}"`,
  'one long number': (bytes) => '1'.repeat(bytes),
  'tiny numbers': (bytes) => `[${repeated('1,', bytes)}1]`,
  'tiny texts': (bytes) => `[${repeated('"a",', bytes)}"a"]`,
  'empty arrays': (bytes) => `[${repeated('[],', bytes)}[]]`,
  'tiny objects': (bytes) => `[${repeated('{"a":1},', bytes)}{}]`,
  members: (bytes) => `{${members(bytes)}"z":1}`,
  'texts that are read': (bytes) => `[${pieces(bytes, readValues, (_, room) => `"${'x'.repeat(room)}",`)}"a"]`,
  'parts that are read': (bytes) =>
    `[${pieces(bytes, readParts, (_, room) => `{"type":"text","text":"${'x'.repeat(room)}"},`)}{"type":"text","text":"a"}]`,
  'long names that are read': (bytes) =>
    `{${pieces(bytes, readNames.answer, (at, room) => `"${at}${'x'.repeat(room)}":0,`)}"z":1}`,
  'names that are read': (bytes) =>
    `{${pieces(bytes, readNames.request, (at, room) => `"${at}":"${'x'.repeat(room)}",`)}"z":1}`,
  'one member many times': (bytes) => `{${repeated('"a":1,', bytes)}"a":1}`,
  'deep arrays': (bytes) => `${'['.repeat(bytes / 2)}${']'.repeat(bytes / 2)}`,
  'deep objects': (bytes) => `${repeated('{"a":', (bytes * 5) / 6)}1${'}'.repeat(Math.floor(bytes / 6))}`,
};

export const largeShapes = Object.keys(shapes);

/** A value of about `bytes` bytes. */
export function largeValue(shape, bytes) {
  return shapes[shape](Math.floor(bytes));
}

function repeated(piece, bytes) {
  return piece.repeat(Math.floor(bytes / piece.length));
}

/** At most `count` pieces, which share the size. */
function pieces(bytes, count, pieceOf) {
  const room = Math.max(1, Math.floor(bytes / count) - 26);
  let text = '';
  for (let at = 0; at < count && text.length < bytes - 2 * room - 40; at++) text += pieceOf(at, room);
  return text;
}

function members(bytes) {
  const pieces = [];
  for (let length = 0, at = 0; length < bytes; at++) {
    const piece = `"${at.toString(36)}":0,`;
    pieces.push(piece);
    length += piece.length;
  }
  return pieces.join('');
}

/** The body with a value in its place. At the top level the value's own members are put there, or the value under one name. */
export function bodyWith(template, value) {
  if (!template.includes('@@')) return template.replace('@', () => value);
  return template.replace('@@', () => (value.startsWith('{') ? value.slice(1, -1) : `"unknown":${value}`));
}
