/** The slot of a key in a cluster: CRC16 of the part between the first braces, or of the whole name, modulo 16384. */

export const slotCount = 16_384;

/** The checksum of each byte (CCITT, polynomial 0x1021). */
const table = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc;
});

export function keySlot(key: string): number {
  const bytes = Buffer.from(hashedPart(key));
  let crc = 0;
  for (const byte of bytes) crc = ((crc << 8) ^ table[((crc >> 8) ^ byte) & 0xff]!) & 0xffff;
  return crc % slotCount;
}

function hashedPart(key: string): string {
  const open = key.indexOf('{');
  const close = open < 0 ? -1 : key.indexOf('}', open + 1);
  return close > open + 1 ? key.slice(open + 1, close) : key;
}
