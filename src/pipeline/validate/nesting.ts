/** The cap on nesting, walked over parsed values: it costs by the number of objects, not by the bytes. */
export const nestingMax = 128;

/** True where `value` holds objects or arrays more than `nestingMax` levels deep, itself included. */
export function tooDeep(value: object, level = 1): boolean {
  if (level > nestingMax) return true;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const item: unknown = value[i];
      if (item !== null && typeof item === 'object' && tooDeep(item, level + 1)) return true;
    }
    return false;
  }
  for (const key in value) {
    const item: unknown = (value as Record<string, unknown>)[key];
    if (item !== null && typeof item === 'object' && tooDeep(item, level + 1)) return true;
  }
  return false;
}

/** The same cap before parsing, by bytes: for large bodies, whose parse would pay for every level. */
export function bytesTooDeep(bytes: Uint8Array): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (inString) {
      if (byte === 0x5c) i++;
      else if (byte === 0x22) inString = false;
    } else if (byte === 0x22) inString = true;
    else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > nestingMax) return true;
    } else if (byte === 0x7d || byte === 0x5d) depth--;
  }
  return false;
}
