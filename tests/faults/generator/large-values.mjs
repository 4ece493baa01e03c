/**
 * JSON values of a given size in the shapes that are dear to read: in one long piece, in millions of tiny ones, or nested deeply. Each is
 * made when it is asked for, as latin1 text.
 */
const shapes = {
  'one long text': (bytes) => `"${'x'.repeat(bytes)}"`,
  'one text of escapes': (bytes) => `"${repeated('\\u00e9', bytes)}"`,
  'one long number': (bytes) => '1'.repeat(bytes),
  'tiny numbers': (bytes) => `[${repeated('1,', bytes)}1]`,
  'tiny texts': (bytes) => `[${repeated('"a",', bytes)}"a"]`,
  'empty arrays': (bytes) => `[${repeated('[],', bytes)}[]]`,
  'tiny objects': (bytes) => `[${repeated('{"a":1},', bytes)}{}]`,
  members: (bytes) => `{${members(bytes)}"z":1}`,
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

function members(bytes) {
  const pieces = [];
  for (let length = 0, at = 0; length < bytes; at++) {
    const piece = `"${at.toString(36)}":0,`;
    pieces.push(piece);
    length += piece.length;
  }
  return pieces.join('');
}
