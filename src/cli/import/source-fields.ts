/** The fields of a JSON source, as the report names them. */
import { ImportReport, noSetting, type Verdict } from './report.js';

interface SourceField {
  readonly path: string;
  readonly isEmpty: boolean;
}

/** Every object, list and value below the file, in the order of the source. */
export function fieldsWithin(file: string, config: object): string[] {
  return allWithin(file, config).map(({ path }) => path);
}

function allWithin(file: string, config: object): SourceField[] {
  return Object.entries(config).flatMap(([name, value]) => fieldsBelow(value, `${file} ${name}`));
}

function fieldsBelow(value: unknown, path: string): SourceField[] {
  const own = { path, isEmpty: isNothing(value) };
  if (Array.isArray(value)) return [own, ...value.flatMap((each, index) => fieldsBelow(each, `${path}[${index}]`))];
  if (typeof value !== 'object' || value === null) return [own];
  return [own, ...Object.entries(value).flatMap(([name, each]) => fieldsBelow(each, `${path}.${name}`))];
}

export function isNothing(value: unknown): boolean {
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}

interface LeftFields {
  readonly file: string;
  readonly config: object;
  /** Why they are not taken; without it what is empty is no gap. */
  readonly words?: string;
}

/** A line for each value that neither has one nor stands within something that has one. */
export function reportLeft(report: ImportReport, { file, config, words }: LeftFields): void {
  const fields = allWithin(file, config);
  const containers = new Set(fields.map(({ path }) => containerOf(path)));
  const hasLine = (field: string | null): boolean =>
    field !== null && (report.hasLine(field) || hasLine(containerOf(field)));
  for (const { path, isEmpty } of fields) {
    if (containers.has(path) || hasLine(path)) continue;
    if (isEmpty && words === undefined) report.taken(path, 'nothing in it');
    else report.notTaken(path, words ?? noSetting);
  }
}

/** null for a field of the file itself. */
function containerOf(field: string): string | null {
  const end = Math.max(field.lastIndexOf('.'), field.lastIndexOf('['));
  return end < field.lastIndexOf(' ') ? null : field.slice(0, end);
}

/** Takes lines of a reader of LiteLLM's entries, which another source is read by, under the names of that source. */
export class RenamedReport extends ImportReport {
  constructor(
    private readonly report: ImportReport,
    private readonly nameOf: (field: string) => string,
  ) {
    super();
  }

  override add(field: string, verdict: Verdict, words: string): void {
    this.report.add(this.nameOf(field), verdict, words);
  }

  /** They are fields of an entry that was made of the source's own, which have their lines. */
  override addRest(): void {}
}
