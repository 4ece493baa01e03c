/** The names of the code in the pages that lead a contributor through it: each is defined where the page says. */
import { describe, expect, it } from 'vitest';
import { readTextFiles, trackedPaths } from '../support/repository-text.js';

const files = new Map(readTextFiles(trackedPaths()).map(({ path, text }) => [path, text]));
const pages = ['docs/request-path.md', 'CONTRIBUTING.md'];

interface Named {
  readonly name: string;
  readonly file: string;
}

const quoted = /`([A-Za-z_]\w*)`/g;
const place = /^`((?:src|tests|scripts|dashboard\/src)\/[\w./-]+\.(?:tsx?|mjs))`$/;
const placedName = /`([A-Za-z_]\w*)` \(`((?:src|tests|scripts|dashboard\/src)\/[\w./-]+\.(?:tsx?|mjs))`\)/g;

/** Written as `name` (`file`), or in a table in the cell behind that of its file. */
function namedIn(page: string): Named[] {
  const placed = [...page.matchAll(placedName)].map(([, name, file]) => ({ name: name!, file: file! }));
  const rows = page.split('\n').flatMap((line) => {
    const cells = line.split(' | ').map((cell) => cell.replace(/^\| ?| ?\|$/g, ''));
    const at = cells.findIndex((cell) => place.test(cell));
    const file = place.exec(cells[at] ?? '')?.[1];
    if (file === undefined) return [];
    const names = (cells[at + 1] ?? '').replace(placedName, '').matchAll(quoted);
    return [...names].map(([, name]) => ({ name: name!, file }));
  });
  return [...placed, ...rows];
}

function isDefinedIn({ name, file }: Named): boolean {
  const declared = `(?:function|class|const|let|interface|type|enum) ${name}\\b`;
  const member = `^ +(?:(?:private|readonly|static|async|get) )*['"]?${name}['"]?[?!]?[(:<=]`;
  const assigned = `^ +(?:(?:private|readonly|static) )*${name} = `;
  return new RegExp(`${declared}|${member}|${assigned}`, 'm').test(files.get(file) ?? '');
}

describe.each(pages)('%s', (path) => {
  const page = files.get(path)!;

  it('names functions that are in the files beside them', () => {
    const named = namedIn(page);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((each) => !isDefinedIn(each))).toEqual([]);
  });

  it('names nothing that the code does not have', () => {
    const code = [...files].filter(([file]) => /\.(?:tsx?|mjs|js)$/.test(file)).map(([, text]) => text);
    const words = new Set(code.flatMap((text) => text.match(/\b[A-Za-z_]\w*\b/g) ?? []));
    const camel = [...page.matchAll(quoted)].map(([, name]) => name!).filter((name) => /[a-z]{2}\w*[A-Z]/.test(name));
    expect(camel.length).toBeGreaterThan(2);
    expect(camel.filter((name) => !words.has(name))).toEqual([]);
  });
});

describe('a name', () => {
  it('is found beside a file and in a table, and where it is missing', () => {
    const page = '`end` (`src/pipeline/pipeline.ts`)\n| `src/pipeline/pipeline.ts` | `serve`, `gone` | `x` |\n';
    const named = namedIn(page);
    expect(named.map(({ name }) => name)).toEqual(['end', 'serve', 'gone']);
    expect(named.filter((each) => !isDefinedIn(each)).map(({ name }) => name)).toEqual(['gone']);
  });
});
