/**
 * Reasoning that is passed on in pieces is kept, because it has to be given once more, whole, with its signature. The bound keeps a
 * stream within its memory; longer reasoning was delivered all the same, but cannot be given back to the provider.
 */
const keptCharactersMax = 128 * 1024;

/** null = it is too long to be kept. Both are the inside of a JSON string. */
export function keepReasoning(kept: string | null, piece: string): string | null {
  if (kept === null || kept.length + piece.length > keptCharactersMax) return null;
  // Slices of frames would keep the frames alive.
  return kept + Buffer.from(piece, 'latin1').toString('latin1');
}
