/**
 * Finds the positions of an object's members in its JSON text, so that a few can be removed or added without serialising the
 * others. It scans from string to string and gives up on anything unusual. It does not replace parsing.
 */
export interface Members {
  readonly keys: string[];
  /** Where a member's key begins and its value ends, by position in `keys`. */
  readonly starts: number[];
  readonly valueStarts: number[];
  readonly ends: number[];
  /** How many keys the value of each member holds, on all levels. */
  readonly innerKeys: number[];
  /** The nesting depth of objects and arrays, this one included. */
  depth: number;
}

const quote = 0x22;
const backslash = 0x5c;

/** Characters that are allowed outside strings: numbers, literals and white space. */
const outside = new Uint8Array(256);
for (const character of '0123456789+-.eEtrufalsn \t\r\n') outside[character.charCodeAt(0)] = 1;

/** Null where a key has an escape or is repeated, or the text is unusual: then the caller serialises the parsed value. */
export function findMembers(text: string): Members | null {
  const found: Members = { keys: [], starts: [], valueStarts: [], ends: [], innerKeys: [], depth: 0 };
  let depth = 0;
  let keyIsNext = false;
  let innerKeys = 0;
  for (let at = start(text); at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote: {
        const end = closingQuote(text, at);
        if (end === -1) return null;
        if (depth === 1 && keyIsNext) {
          const key = text.slice(at + 1, end);
          if (key.includes('\\')) return null;
          found.keys.push(key);
          found.starts.push(at);
          keyIsNext = false;
        }
        at = end;
        break;
      }
      case 0x3a: // :
        if (depth === 1) found.valueStarts.push(at + 1);
        else innerKeys++;
        break;
      case 0x2c: // ,
        if (depth === 1) {
          found.ends.push(at);
          found.innerKeys.push(innerKeys);
          innerKeys = 0;
          keyIsNext = true;
        }
        break;
      case 0x7b: // {
      case 0x5b: // [
        if (++depth === 1) keyIsNext = true;
        if (depth > found.depth) found.depth = depth;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        if (--depth === 0) {
          if (found.keys.length > 0) {
            found.ends.push(at);
            found.innerKeys.push(innerKeys);
          }
          return text.slice(at + 1).trim() === '' && !hasDuplicate(found.keys) ? found : null;
        }
        break;
      default:
        if (outside[text.charCodeAt(at)] !== 1) return null;
        // A number may have megabytes.
        while (outside[text.charCodeAt(at + 1)] === 1) at++;
    }
  }
  return null;
}

/** Where the entries of an array begin and end. The text is valid JSON, and the array is the value that begins at `from`. */
export function findEntries(text: string, from: number): { start: number; end: number }[] {
  const entries: { start: number; end: number }[] = [];
  let depth = 0;
  let start = -1;
  let end = -1;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code <= 0x20) continue;
    const closes = code === 0x5d || code === 0x7d;
    if (depth === 1 && start !== -1 && (code === 0x2c || closes)) {
      entries.push({ start, end });
      start = -1;
    }
    if (closes && --depth === 0) break;
    if (depth === 1 && start === -1 && code !== 0x2c) start = at;
    if (code === 0x5b || code === 0x7b) depth++;
    if (code === quote) at = closingQuote(text, at);
    end = at + 1;
  }
  return entries;
}

/** The text of the members to keep; neighbours stay one piece. */
export function keptMembers(text: string, members: Members, isKept: (key: string) => boolean): string {
  const { keys, starts, ends } = members;
  let kept = '';
  let from = -1;
  for (let i = 0; i <= keys.length; i++) {
    const keeps = i < keys.length && isKept(keys[i]!);
    if (keeps && from === -1) from = starts[i]!;
    if (!keeps && from !== -1) {
      const piece = text.slice(from, ends[i - 1]!);
      kept = kept === '' ? piece : `${kept},${piece}`;
      from = -1;
    }
  }
  return kept;
}

/** The members with an object in which a key comes twice. `parsed` is the text's object, in which the last one counts. */
export function membersWithRepeats({ keys, innerKeys }: Members, parsed: Readonly<Record<string, unknown>>): string[] {
  return keys.filter((key, at) => innerKeys[at] !== countKeys(parsed[key]));
}

function countKeys(value: unknown): number {
  if (value === null || typeof value !== 'object') return 0;
  let count = 0;
  if (Array.isArray(value)) for (let at = 0; at < value.length; at++) count += countKeys(value[at]);
  else for (const key in value) count += 1 + countKeys((value as Record<string, unknown>)[key]);
  return count;
}

/** The text of a member's value. */
export function memberValue(text: string, members: Members, key: string): string | undefined {
  const at = members.keys.indexOf(key);
  return at === -1 ? undefined : text.slice(members.valueStarts[at]!, members.ends[at]!).trim();
}

/** Only an object has members. */
function start(text: string): number {
  let at = 0;
  while (text.charCodeAt(at) <= 0x20) at++;
  return text.charCodeAt(at) === 0x7b ? at : text.length;
}

function hasDuplicate(keys: readonly string[]): boolean {
  if (keys.length > 16) return new Set(keys).size < keys.length;
  for (let i = 1; i < keys.length; i++) if (keys.lastIndexOf(keys[i]!, i - 1) !== -1) return true;
  return false;
}

function closingQuote(text: string, opening: number): number {
  let end = text.indexOf('"', opening + 1);
  while (end !== -1 && text.charCodeAt(end - 1) === backslash && escapedAt(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

/** A quote is escaped where an odd number of backslashes precedes it. */
function escapedAt(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === backslash) first--;
  return (at - first) % 2 === 1;
}
