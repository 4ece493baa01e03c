/** Reads the names of a type's members from the declarations of an installed package. TypeScript's own parser has no API in its newest version. */
import { readFileSync } from 'node:fs';

const packages = new URL('../../node_modules/', import.meta.url);

/** The members of an interface, or of a type that is one object. Throws where the file has no such type. */
export function declaredFields(file: string, type: string): readonly string[] {
  const text = readFileSync(new URL(file, packages), 'utf8').replace(/\/\*.*?\*\//gs, '');
  const name = type.replaceAll('$', '\\$');
  const start = new RegExp(`(?:interface ${name}\\b[^{;=]*|type ${name} = )\\{`).exec(text);
  if (!start) throw new Error(`${file} has no type ${type}`);
  const found: string[] = [];
  let depth = 1;
  let member = '';
  for (let at = start.index + start[0].length; depth > 0; at++) {
    const character = text[at];
    if (character === undefined) throw new Error(`${type} has no end in ${file}`);
    if (depth === 1 && (character === ';' || character === '}')) {
      const key = /^\s*(?:readonly )?["']?([\w-]+)["']?\??:/.exec(member)?.[1];
      if (key !== undefined) found.push(key);
      member = '';
    } else if (depth === 1) member += character;
    if (character === '{' || character === '[' || character === '(') depth++;
    else if (character === '}' || character === ']' || character === ')') depth--;
  }
  return found;
}
