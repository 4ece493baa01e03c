/** The rules of the architecture as functions over source files, so that the architecture test can also prove that they fail. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface SourceFile {
  /** From the root of the checkout, with forward slashes. */
  path: string;
  text: string;
}

const foundation = ['base', 'config', 'errors', 'wire', 'catalogue', 'policy', 'domain', 'proof'];
const stores = [...foundation, 'storage', 'cluster'];
const services = [
  ...stores,
  'accounts',
  'billing',
  'journal',
  'limits',
  'territory',
  'health',
  'payments',
  'sealing',
  'observability/metrics',
];

/** Who may import whom. A folder may always import itself; anything not listed: no. */
const importTable: Record<string, readonly string[]> = {
  base: [],
  config: ['base'],
  errors: ['base'],
  catalogue: ['base', 'config', 'errors'],
  wire: ['base', 'errors', 'catalogue'],
  policy: ['base', 'errors', 'wire', 'catalogue'],
  domain: ['base', 'policy', 'wire'],
  proof: ['base', 'catalogue', 'domain', 'wire'],
  doors: ['domain', 'wire', 'base', 'errors'],
  storage: foundation,
  cluster: foundation,
  accounts: stores,
  billing: stores,
  journal: stores,
  limits: stores,
  territory: stores,
  health: stores,
  payments: stores,
  sealing: stores,
  observability: foundation,
  'observability/metrics': foundation,
  providers: foundation,
  'providers/dialects': ['base', 'wire'],
  fleet: services,
  pipeline: [...services, 'fleet', 'doors'],
  'pipeline/handover': [...services, 'doors', 'providers'],
  'pipeline/ports': [...services, 'fleet', 'doors', 'providers'],
  'pipeline/own-credentials': [...services, 'providers'],
  'pipeline/walk': [...services, 'providers'],
  'pipeline/respond': [...services, 'doors', 'providers'],
  http: [...services, 'fleet', 'doors', 'pipeline', 'observability'],
  app: [...services, 'fleet', 'doors', 'providers', 'pipeline', 'observability', 'http'],
  main: [...foundation, 'app'],
  settle: [...foundation, 'app'],
  cli: [...foundation, 'doors', 'journal', 'providers', 'main', 'settle'],
};

const stages = ['admit', 'validate', 'resolve', 'gate', 'rank', 'walk', 'respond', 'settle'];

const folders = ['src', 'tests', 'scripts', 'bench', 'dashboard/src'];
const sourceName = /\.(ts|tsx|mts|mjs|js)$/;

/** Every source file of the checkout, tests too. */
export function readSources(): SourceFile[] {
  return folders.flatMap((folder) => {
    let names: string[] = [];
    try {
      names = readdirSync(join(root, folder), { recursive: true }) as string[];
    } catch {
      return [];
    }
    return names
      .filter((name) => sourceName.test(name) && !name.includes('node_modules'))
      .map((name) => join(folder, name))
      .map((path) => ({
        path: relative('.', path).replaceAll('\\', '/'),
        text: readFileSync(join(root, path), 'utf8'),
      }));
  });
}

/** Test files that may repeat a test after any failure, and why. All others repeat only what failed by a measured time. */
const repeating: Readonly<Record<string, string>> = {
  'src/cluster/redis/redis-counters.test.ts': 'windows in Redis end by its own clock, 0.4 s after they begin',
  'tests/support/counters-suite.ts': 'passes that on',
  'tests/architecture.test.ts': 'has examples of what is refused',
};

/** A race in money or journal code must not pass because its test was repeated. */
export function repetitionFaults(files: readonly SourceFile[]): string[] {
  const isTest = ({ path }: SourceFile) => path.startsWith('tests/') || /\.test\.[mt]sx?$/.test(path);
  const option = /(?<!['"`\w.])retry\b(?=\s*(?::|\}|,))(?!\s*:\s*repeatMeasured\()/;
  return files
    .filter((file) => isTest(file) && !(file.path in repeating))
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, i) => (option.test(line) ? [`${path}:${i + 1} ${line.trim()}`] : [])),
    );
}

/** `vi.waitFor` gives up after a second unless a time is named, and a busy machine may need longer. `expect.poll` waits for a minute. */
export function waitFaults(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => path !== 'tests/architecture.test.ts')
    .flatMap(({ path, text }) =>
      [...text.matchAll(/\bvi\.wait(?:For|Until)\(/g)]
        .filter((match) => !hasSecondArgument(text.slice(match.index + match[0].length)))
        .map((match) => `${path}:${text.slice(0, match.index).split('\n').length}`),
    );
}

/** Of a call, from behind its parenthesis. */
function hasSecondArgument(text: string): boolean {
  let depth = 0;
  for (const [at, letter] of [...text].entries()) {
    if (depth === 0 && letter === ',' && !/^\s*\)/.test(text.slice(at + 1))) return true;
    if ('([{'.includes(letter)) depth++;
    else if (')]}'.includes(letter) && depth-- === 0) return false;
  }
  return false;
}

const importLine =
  /(?:^|\n)\s*(?:import|export)\b[^'"`;]*?from\s*['"]([^'"]+)['"]|(?:^|\n)\s*import\s*['"]([^'"]+)['"]|\bimport\(\s*(?:\/\*.*?\*\/\s*)?['"]([^'"]+)['"]\s*\)/g;

/** The files of ours that a file imports, as paths from the root; with `valuesOnly` without those it only takes types from. */
export function importsOf(file: SourceFile, { valuesOnly = false } = {}): string[] {
  const found: string[] = [];
  for (const match of file.text.matchAll(importLine)) {
    const specifier = match[1] ?? match[2] ?? match[3] ?? '';
    if (!specifier.startsWith('.') || (valuesOnly && /^\s*(import|export)\s+type\b/.test(match[0]))) continue;
    found.push(posix.join(posix.dirname(file.path), specifier).replace(/\.js$/, '.ts'));
  }
  return found;
}

/** The row of the table that a file belongs to: the longest that matches. */
function areaOf(path: string): string {
  const parts = path
    .replace(/^src\//, '')
    .replace(/\.tsx?$/, '')
    .split('/');
  const two = parts.slice(0, 2).join('/');
  return two in importTable ? two : parts[0]!;
}

function topOf(area: string): string {
  return area.split('/')[0]!;
}

const isTest = (path: string) => /\.test\.tsx?$/.test(path);

/** Imports that the table does not allow. Tests may import what they test with. */
export function importFaults(files: readonly SourceFile[]): string[] {
  const faults: string[] = [];
  for (const file of files) {
    if (!file.path.startsWith('src/') || isTest(file.path)) continue;
    const area = areaOf(file.path);
    const allowed = importTable[area];
    if (!allowed) faults.push(`${file.path}: "${area}" is not in the import table`);
    for (const target of importsOf(file)) {
      if (!target.startsWith('src/')) faults.push(`${file.path} imports ${target}, outside of src`);
      else if (!mayImport(area, allowed ?? [], target)) faults.push(`${file.path} imports ${target}`);
    }
  }
  return faults;
}

function mayImport(area: string, allowed: readonly string[], target: string): boolean {
  const targetArea = areaOf(target);
  if (targetArea === area || allowed.includes(targetArea)) return true;
  // An own row for a part narrows what that part sees, not who sees it.
  if (allowed.includes(topOf(targetArea))) return true;
  return topOf(area) === topOf(targetArea) && area !== 'providers/dialects';
}

/** The stage that a file of the pipeline belongs to; undefined for pipeline.ts, the hand-overs and what stages share. */
function stageOf(path: string): string | undefined {
  const name = /^src\/pipeline\/([^/.]+)/.exec(path)?.[1];
  return name !== undefined && stages.includes(name) ? name : undefined;
}

/** The real way with its first half, a count of tokens, and the dry run. */
const composers = ['pipeline', 'exchange', 'count', 'explain'].map((name) => `src/pipeline/${name}.ts`);

/** Stages know nothing of one another; only the composers know them all. The ports may name the types of what a stage brings. */
export function stageFaults(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => path.startsWith('src/pipeline/') && !composers.includes(path) && !isTest(path))
    .flatMap((file) =>
      importsOf(file, { valuesOnly: file.path === 'src/pipeline/ports.ts' })
        .filter((target) => stageOf(target) !== undefined && stageOf(target) !== stageOf(file.path))
        .map((target) => `${file.path} imports the stage ${target}`),
    );
}

/** The dashboard talks HTTP only. */
export function dashboardFaults(files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => file.path.startsWith('dashboard/'))
    .flatMap((file) =>
      importsOf(file)
        .filter((target) => !target.startsWith('dashboard/'))
        .map((target) => `${file.path} imports ${target}`),
    );
}

/** Files that import one another, types included. Each cycle is the list of its files. */
export function cycles(files: readonly SourceFile[]): string[][] {
  const sources = files.filter(({ path }) => /^(dashboard\/)?src\//.test(path) && !isTest(path));
  const known = new Map(sources.map((file) => [file.path, importsOf(file)]));
  // An import of `x.js` means `x.ts` or `x.tsx`.
  const fileOf = (target: string) => (known.has(target) ? target : `${target}x`);
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const found: string[][] = [];
  const visit = (path: string): number => {
    order.set(path, order.size);
    lowest.set(path, order.get(path)!);
    open.push(path);
    for (const target of known.get(path)!.map(fileOf)) {
      if (!known.has(target)) continue;
      if (!order.has(target)) lowest.set(path, Math.min(lowest.get(path)!, visit(target)));
      else if (open.includes(target)) lowest.set(path, Math.min(lowest.get(path)!, order.get(target)!));
    }
    if (lowest.get(path) === order.get(path)) {
      const cycle = open.splice(open.indexOf(path));
      if (cycle.length > 1) found.push(cycle.sort());
    }
    return lowest.get(path)!;
  };
  for (const path of known.keys()) if (!order.has(path)) visit(path);
  return found;
}

const lineLimit = 300;

export function lengthFaults(files: readonly SourceFile[]): string[] {
  return files
    .map((file) => ({ path: file.path, lines: file.text.split('\n').length - 1 }))
    .filter(({ lines }) => lines >= lineLimit)
    .map(({ path, lines }) => `${path} has ${lines} lines; the limit is ${lineLimit}`);
}

const vague = /^(utils?|helpers?|common|misc)$/i;

export function nameFaults(files: readonly SourceFile[]): string[] {
  const faults: string[] = [];
  for (const { path } of files) {
    const names = path.split('/').map((part) => part.replace(/\..*$/, ''));
    if (names.some((name) => vague.test(name))) faults.push(`${path} has a name that says nothing`);
    if (path.startsWith('src/') && !/^[a-z0-9-]+(\.test)?\.ts$/.test(posix.basename(path)))
      faults.push(`${path} is not kebab-case`);
  }
  return faults;
}

/** Registries are explicit lists: no module looks into a folder for others to load. */
export function scanFaults(files: readonly SourceFile[]): string[] {
  const registries = /^src\/(policy|providers|doors|pipeline|http|errors|wire)\//;
  return files
    .filter(
      (file) =>
        registries.test(file.path) &&
        !isTest(file.path) &&
        /\breaddir(Sync)?\b|\bglob(Sync)?\(|import\.meta\.glob/.test(file.text),
    )
    .map((file) => `${file.path} scans a folder`);
}
